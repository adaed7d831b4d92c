import {
  type Configuration, authorizationCodeGrant, buildAuthorizationUrl, calculatePKCECodeChallenge, fetchUserInfo
} from 'openid-client'
import { badRequest } from '../../core/errors.ts'
import type { Attempt } from './sign-in-attempts.ts'
import type { Claims } from './identity.ts'
import { type OidcSettings, isPrivateLine } from './settings.ts'

const SCOPES = ['openid', 'profile', 'email']
/** Parameters of an authorization code response. Any others in the browser's request do not come from the provider. */
const ANSWER_PARAMETERS: ReadonlySet<string> = new Set(['code', 'state', 'iss', 'error', 'error_description'])

/** The provider's facts about a person who signed in. */
export interface Proof {
  claims: Claims
  issuer: string
  idToken: string
  /** True if the provider promises to say which e-mail addresses are verified. */
  isVerificationPromised: boolean
}

/** Checks an address of the provider to which browsers are sent. */
function toSafeUrl (url: URL): URL {
  if (!isPrivateLine(url)) throw new TypeError(`The provider's address '${url.origin}' must be https`)
  return url
}

/**
 * Lists the scopes to request. Providers refuse unknown scopes, so the scope for roles is requested only where it is
 * offered.
 */
function listScopes (configuration: Configuration, { claim_roles: roles }: OidcSettings): string {
  const supported = configuration.serverMetadata().scopes_supported
  if (roles === undefined || SCOPES.includes(roles)) return SCOPES.join(' ')
  const hasScope = supported === undefined ? !roles.includes('.') : supported.includes(roles)
  return (hasScope ? [...SCOPES, roles] : SCOPES).join(' ')
}

/** Returns the address at the provider to which a browser goes to sign in. */
export async function toAuthorizationUrl (configuration: Configuration, settings: OidcSettings, attempt: Attempt) {
  return toSafeUrl(buildAuthorizationUrl(configuration, {
    redirect_uri: settings.redirect_uri.href,
    scope: listScopes(configuration, settings),
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await calculatePKCECodeChallenge(attempt.code_verifier),
    code_challenge_method: 'S256'
  })).href
}

/** Exchanges the code in the provider's response for the facts about the person. */
export async function readProof (
  configuration: Configuration, settings: OidcSettings, attempt: Attempt, answer: URLSearchParams
): Promise<Proof> {
  const address = new URL(settings.redirect_uri)
  for (const [name, value] of answer) {
    if (ANSWER_PARAMETERS.has(name)) address.searchParams.append(name, value)
  }
  const tokens = await authorizationCodeGrant(configuration, address, {
    expectedState: attempt.state, expectedNonce: attempt.nonce, pkceCodeVerifier: attempt.code_verifier
  })
  const token = tokens.claims()
  if (token === undefined || tokens.id_token === undefined) {
    throw badRequest('The OpenID provider sent no id token; check the settings of the client there')
  }
  const { userinfo_endpoint: endpoint, claims_supported: promised } = configuration.serverMetadata()
  const profile = endpoint === undefined ? {} : await fetchUserInfo(configuration, tokens.access_token, token.sub)
  return {
    claims: { ...token, ...profile },
    issuer: token.iss,
    idToken: tokens.id_token,
    isVerificationPromised: promised?.includes('email_verified') === true
  }
}

/** Returns the address at which a session ends at the provider; null if there is none. */
export function toLogoutUrl (endpoint: string | undefined, idToken: string): string | null {
  if (endpoint === undefined) return null
  const url = toSafeUrl(new URL(endpoint))
  url.searchParams.set('id_token_hint', idToken)
  return url.href
}
