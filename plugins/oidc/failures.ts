import { AuthorizationResponseError, ClientError, ResponseBodyError, WWWAuthenticateChallengeError } from 'openid-client'
import { ApiError, badRequest } from '../../core/errors.ts'

/** Codes of openid-client for responses of the provider that do not belong to this sign-in. */
const MISMATCHES: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'
])
const CODE = /^[\w.-]{1,64}$/
const AGAIN = 'sign in again'

/** Returns a code of the provider for display, if its characters are safe. */
const showCode = (code: string) => CODE.test(code) ? ` (${code})` : ''

/**
 * Maps a failure at the provider to an error for the person who signs in. Errors that only an administrator can fix,
 * and a provider that is down, become 503.
 */
export function toApiError (err: unknown): ApiError {
  if (err instanceof ApiError) return err
  if (err instanceof AuthorizationResponseError) {
    return new ApiError('BAD_REQUEST', `The OpenID provider did not sign you in${showCode(err.error)}; ${AGAIN}`, { cause: err })
  }
  if (err instanceof ResponseBodyError && err.error === 'invalid_grant') {
    return new ApiError('BAD_REQUEST', `The code from the OpenID provider is wrong, used or too old; ${AGAIN}`, { cause: err })
  }
  if (err instanceof ResponseBodyError || err instanceof WWWAuthenticateChallengeError) {
    const code = err instanceof ResponseBodyError ? showCode(err.error) : ''
    return new ApiError('UNAVAILABLE', `The OpenID provider refused this server${code}; an administrator should check ` +
      'OIDC_CLIENT_ID and OIDC_CLIENT_SECRET', { cause: err })
  }
  if (err instanceof ClientError && err.code !== undefined && MISMATCHES.has(err.code)) {
    return badRequest(`The answer of the OpenID provider does not belong to this sign-in; ${AGAIN}`)
  }
  return new ApiError('UNAVAILABLE', 'The OpenID provider does not answer correctly; try again later', { cause: err })
}
