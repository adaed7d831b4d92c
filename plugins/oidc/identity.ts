import { badRequest, forbidden } from '../../core/errors.ts'
import { readEmail as readAddress } from '../users/account-fields.ts'
import type { OidcSettings } from './settings.ts'

/** Claims about a person: those of the id token, overridden by the userinfo. */
export type Claims = Readonly<Record<string, unknown>>

/** The role from the provider; null if the configuration leaves roles to this server. */
export type ClaimedRole = 'admin' | 'editor' | 'user' | null

/** A person who signed in at the provider. */
export interface Identity {
  issuer: string
  subject: string
  /** In lower case. */
  email: string
  /** True if the provider says that the person owns the address. */
  hasVerifiedEmail: boolean
  username: string
  role: ClaimedRole
}

/** Printable ASCII; OpenID Connect Core 1.0 section 2 limits subjects to 255 characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/
const ANY_ROLE = '*'

function readSubject ({ sub }: Claims): string {
  if (typeof sub === 'string' && SUBJECT.test(sub)) return sub
  throw badRequest('The provider sent no valid subject (sub); check the client at the provider')
}

function readEmail (claims: Claims, isPromised: boolean): Pick<Identity, 'email' | 'hasVerifiedEmail'> {
  const { email, email_verified: verified } = claims
  const address = typeof email === 'string' ? readAddress(email) : null
  if (address === null) {
    throw badRequest('The provider sent no e-mail address; add one to the account at the provider, and give the client the scope email')
  }
  // Some providers send this boolean as text.
  const isVerified = verified === true || verified === 'true'
  if (!isVerified && (isPromised || (verified !== undefined && verified !== null))) {
    throw badRequest(`The provider has not verified the e-mail address '${address}'; confirm it there, then sign in again`)
  }
  return { email: address, hasVerifiedEmail: isVerified }
}

function readUsername (claims: Claims, attribute: string): string {
  const name = claims[attribute]
  if (typeof name === 'string' && name.trim() !== '') return name
  throw badRequest(`The provider sent no '${attribute}'; configure the provider to send one, or set OIDC_USERNAME_ATTRIBUTE to another claim`)
}

/** Finds a claim by its name, which may contain dots itself, or by its path. */
function findClaim (claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  return path.split('.').reduce<unknown>((at, key) =>
    typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Claims)[key] : undefined, claims)
}

/** @throws ApiError FORBIDDEN if the claim exists and none of its roles grants access. */
function readRole (claims: Claims, settings: OidcSettings): ClaimedRole {
  if (settings.claim_roles === undefined) return null
  const claim = findClaim(claims, settings.claim_roles)
  if (claim === undefined || claim === null) return 'user'
  const names: unknown[] = Array.isArray(claim) ? claim : [claim]
  const matches = (role: string | undefined) => role !== undefined && names.includes(role)
  if (matches(settings.role_admin)) return 'admin'
  if (matches(settings.role_editor) || settings.role_editor === ANY_ROLE) return 'editor'
  if (matches(settings.role_viewer) || settings.role_viewer === ANY_ROLE) return 'user'
  throw forbidden(`None of your roles in '${settings.claim_roles}' may use this server; ask an administrator`)
}

/**
 * @param isPromised true if the provider promises to say which addresses are verified
 * @throws ApiError BAD_REQUEST naming the claim that is missing, FORBIDDEN if no role grants access
 */
export function readIdentity (claims: Claims, issuer: string, isPromised: boolean, settings: OidcSettings): Identity {
  return {
    issuer,
    subject: readSubject(claims),
    ...readEmail(claims, isPromised),
    username: readUsername(claims, settings.username_attribute),
    role: readRole(claims, settings)
  }
}

const NAME_MIN = 3
/** Leaves room for a number at the end. */
const NAME_MAX = 240

/** Converts a name to a valid username: letters, digits, `_` and `-`, in lower case. */
export function cleanUsername (name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const cleaned = plain.replace(/[^a-z0-9_-]+/g, '_').replace(/^_+|_+$/g, '').slice(0, NAME_MAX)
  if (cleaned === '') return 'user'
  return cleaned.length < NAME_MIN ? `user_${cleaned}` : cleaned
}
