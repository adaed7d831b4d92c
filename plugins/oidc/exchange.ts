import {
  type Configuration, authorizationCodeGrant, buildAuthorizationUrl, calculatePKCECodeChallenge, fetchUserInfo
} from 'openid-client'
import { badRequest } from '../../core/errors.ts'
import type { Attempt } from './attempts.ts'
import type { Claims } from './identity.ts'
import { type OidcSettings, isPrivateLine } from './settings.ts'

const SCOPES = ['openid', 'profile', 'email']
/** Of an authorization code answer; what else a browser sends along is not the provider's. */
const ANSWER_PARAMETERS: ReadonlySet<string> = new Set(['code', 'state', 'iss', 'error', 'error_description'])

/** What the provider says of somebody who signed in. */
export interface Proof {
  claims: Claims
  issuer: string
  idToken: string
  /** Whether the provider says that it tells which e-mail addresses are verified. */
  isVerificationPromised: boolean
}

/** One of the provider's addresses that browsers are sent to. */
function toSafeUrl (url: URL): URL {
  if (!isPrivateLine(url)) throw new TypeError(`The provider's address '${url.origin}' must be https`)
  return url
}

/** The scopes to ask for. Providers refuse what they do not know: one for roles is asked for where it is listed. */
function listScopes (configuration: Configuration, { claim_roles: roles }: OidcSettings): string {
  const offered = configuration.serverMetadata().scopes_supported
  if (roles === undefined || SCOPES.includes(roles)) return SCOPES.join(' ')
  const hasScope = offered === undefined ? !roles.includes('.') : offered.includes(roles)
  return (hasScope ? [...SCOPES, roles] : SCOPES).join(' ')
}

/** Where to send a browser so that it signs in. */
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

/** Trades the code in the provider's answer for what it says of the person. */
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

/** Where a session ends at the provider; null when it ends nowhere. */
export function toLogoutUrl (endpoint: string | undefined, idToken: string): string | null {
  if (endpoint === undefined) return null
  const url = toSafeUrl(new URL(endpoint))
  url.searchParams.set('id_token_hint', idToken)
  return url.href
}
