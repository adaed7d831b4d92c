import { AuthorizationResponseError, ClientError, ResponseBodyError, WWWAuthenticateChallengeError } from 'openid-client'
import { ApiError, badRequest } from '../../core/errors.ts'

/** What an answer of the provider shows that does not belong to this sign-in, by openid-client's codes. */
const MISMATCHES: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'
])
const CODE = /^[\w.-]{1,64}$/
const AGAIN = 'sign in again'

/** A code of the provider's, when it is fit to be shown. */
const show = (code: string) => CODE.test(code) ? ` (${code})` : ''

/**
 * What went wrong at the provider as an answer for the person who signs in. What only an administrator can mend, and a
 * provider that is down, is 503.
 */
export function toApiError (err: unknown): ApiError {
  if (err instanceof ApiError) return err
  if (err instanceof AuthorizationResponseError) {
    return new ApiError('BAD_REQUEST', `The OpenID provider did not sign you in${show(err.error)}; ${AGAIN}`, { cause: err })
  }
  if (err instanceof ResponseBodyError && err.error === 'invalid_grant') {
    return new ApiError('BAD_REQUEST', `The code from the OpenID provider is wrong, used or too old; ${AGAIN}`, { cause: err })
  }
  if (err instanceof ResponseBodyError || err instanceof WWWAuthenticateChallengeError) {
    const code = err instanceof ResponseBodyError ? show(err.error) : ''
    return new ApiError('UNAVAILABLE', `The OpenID provider refused this server${code}; its administrator should check ` +
      'OIDC_CLIENT_ID and OIDC_CLIENT_SECRET', { cause: err })
  }
  if (err instanceof ClientError && err.code !== undefined && MISMATCHES.has(err.code)) {
    return badRequest(`The answer of the OpenID provider does not belong to this sign-in; ${AGAIN}`)
  }
  return new ApiError('UNAVAILABLE', 'The OpenID provider does not answer as it should; try again later', { cause: err })
}
