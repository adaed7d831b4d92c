import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import { ApiError } from '../errors.ts'
import { type Access, type GrantAction, type GrantEntity, isGranted, scopesOf } from './grants.ts'
import type { Scope } from './scopes.ts'

/** The sender of a request or socket handshake, its credential, and the rights of that credential. */
export interface Caller {
  id: number
  username: string
  role: 'admin' | 'user'
  /** The rights of the account; the scopes of the credential may be fewer. */
  access: Access
  scopes: ReadonlySet<Scope>
  credential: 'session' | 'basic' | 'token' | 'oauth' | 'kiosk'
  /** The login session if the credential is one, else null. */
  session_id: number | null
  /** The client API token if the credential is one, else null. */
  token_id: number | null
  /** The device that the token, or the browser's session, belongs to. */
  device_id: number | null
  /**
   * Identifies the account's password at the time of authentication. A different mark means that the caller must be
   * authenticated again.
   */
  password_mark: string
}

/** The credentials and address that a request or a socket handshake presents. */
export interface RequestCredentials {
  authorization: string | undefined
  cookies: Readonly<Record<string, string | undefined>>
  /** The peer's address. */
  address: string
}

/** One way to authenticate a caller. The first scheme that recognises the request decides alone. */
export interface AuthScheme {
  name: string
  /** Schemes are tried in this order, lowest first. */
  order: number
  /** True if a socket of the main endpoint may be opened with this credential. */
  opensSockets: boolean
  /** Returns the caller, or null if no live credential of this kind was presented. */
  authenticate (credentials: RequestCredentials): Promise<Caller | null>
}

export interface RouteAccess {
  /** Scopes that the caller needs, all of them. */
  scopes?: readonly Scope[]
  /** Alternative to `scopes`: the caller may instead have all of these. */
  orScopes?: readonly Scope[]
  /** Requires an administrator in addition to the scopes; a token needs `users.write` to act as one. */
  admin?: boolean
  /**
   * Requires a sign-in in addition to the scopes. Tokens that were handed out never count, whatever their scopes. An
   * OAuth2 sign-in counts with all scopes of its account, or with some of them if the route says `partly`.
   */
  signedIn?: boolean | 'partly'
  /** Requires this grant in addition to the scopes, for entities that the caller does not own. */
  grant?: readonly [GrantEntity, GrantAction]
  /** Anyone may call. */
  public?: boolean
  /**
   * For programs that support nothing but a URL. A client API token may be in the query as `token`, and anyone may call
   * while DISABLE_DOWNLOAD_ENDPOINT_AUTH is set.
   */
  download?: boolean
  /** For programs that know only usernames and passwords: a client API token may be the password, with any username. */
  tokenAsPassword?: boolean
  /**
   * Returns true for requests that need no authentication, such as those from an address that the operator configured.
   */
  skipsAuthentication?: (request: FastifyRequest) => boolean
  /** The route changes data but needs no CSRF token. */
  csrfExempt?: boolean
  /** The route reads the Authorization header itself, so that only a cookie authenticates the caller. */
  readsAuthorization?: boolean
}

declare module 'fastify' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface FastifyContextConfig extends RouteAccess {}
  interface FastifyRequest {
    caller: Caller | null
    /** True once the credentials were looked at, so that `caller` is known. */
    isIdentified: boolean
  }
  interface FastifyInstance {
    auth: {
      addScheme (scheme: AuthScheme): void
      /** Returns the caller that opens a socket; null for a guest. */
      identifyHandshake (handshake: IncomingMessage): Promise<Caller | null>
      /** Returns the caller of a token that came by other means than a header; null if the token is not valid. */
      identifyToken (token: string, address: string): Promise<Caller | null>
    }
  }
}

export const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'PROPFIND', 'TRACE'])

/** Returns the token in the query, on routes that allow one there. */
export function readUrlToken ({ query, routeOptions }: FastifyRequest): string | null {
  if (routeOptions.config.download !== true || typeof query !== 'object' || query === null || !('token' in query)) return null
  return typeof query.token === 'string' && query.token !== '' ? query.token : null
}

const TOKEN = /^[a-z]{2,20}_[0-9a-f]{64}$/i

/** Returns the Bearer credential of a Basic one whose password has the form of a token; any other credential stays. */
function withTokenAsPassword (authorization: string | undefined): string | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '')?.[1]
  const pair = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8')
  const password = pair.slice(pair.indexOf(':') + 1)
  return TOKEN.test(password) ? `Bearer ${password}` : authorization
}

/** Returns the credential of a request; the header takes precedence over the token in the query. */
export function readAuthorization (request: FastifyRequest): string | undefined {
  const { routeOptions: { config }, headers } = request
  if (config.readsAuthorization === true) return undefined
  if (config.tokenAsPassword === true) return withTokenAsPassword(headers.authorization)
  const token = readUrlToken(request)
  return headers.authorization ?? (token === null ? undefined : `Bearer ${token}`)
}

/** Returns the caller of a route that declares scopes; such a route never runs without one. */
export function callerOf (request: FastifyRequest): Caller {
  if (request.caller === null) throw new ApiError('NOT_AUTHENTICATED')
  return request.caller
}

/** @throws ApiError FORBIDDEN unless the caller has the scope, besides those of the route */
export function requireScope (caller: Caller, scope: Scope): void {
  if (caller.scopes.has(scope)) return
  throw new ApiError('FORBIDDEN', `This request also needs the scope ${scope}; use a token that has it, or sign in`, { missingScopes: [scope] })
}

/** Checks a grant. @throws ApiError INSUFFICIENT_PERMISSIONS unless the caller's account has the grant. */
export function requireGrant (caller: Caller, entity: GrantEntity, action: GrantAction, isOwn = false): void {
  if (!isGranted(caller.access, entity, action, isOwn)) throw new ApiError('INSUFFICIENT_PERMISSIONS')
}

/**
 * True if a session or a password proves that the caller is the account's user, rather than a token with fewer rights.
 * An OAuth2 sign-in requires the password; with all scopes of the account it counts as a session.
 */
function isSignedIn ({ credential, scopes, access }: Caller, isPartEnough = false): boolean {
  if (credential === 'oauth') return isPartEnough || scopesOf(access).every((scope) => scopes.has(scope))
  return credential === 'session' || credential === 'basic'
}

/** @throws ApiError FORBIDDEN for a token, because a token must not gain more rights than it has. */
export function requireSignIn (caller: Caller, isPartEnough = false): void {
  if (isSignedIn(caller, isPartEnough)) return
  throw new ApiError('FORBIDDEN', 'No token may send this request, whatever its scopes; sign in, or send username and password by ' +
    'HTTP Basic')
}

/**
 * True if the caller acts as an administrator. A token of an administrator without the scope `users.write` has only the
 * rights of its scopes.
 */
export function isAdministrator (caller: Caller): boolean {
  return caller.role === 'admin' && (isSignedIn(caller) || caller.scopes.has('users.write'))
}

/** True if a caller has the scopes of a route. */
export function hasScopes (caller: Caller, { scopes = [], orScopes }: RouteAccess): boolean {
  const hasAll = (wanted: readonly Scope[]) => wanted.every((scope) => caller.scopes.has(scope))
  return hasAll(scopes) || (orScopes !== undefined && hasAll(orScopes))
}

/** Programs that know only passwords ask for one when a guest is refused so. */
const refusalOf = ({ credential }: Caller, { tokenAsPassword }: RouteAccess) =>
  credential === 'kiosk' && tokenAsPassword === true ? 'NOT_AUTHENTICATED' : 'FORBIDDEN'

/** @throws ApiError if the caller of a route may not call it. */
export function checkAccess (caller: Caller | null, access: RouteAccess, method: string): void {
  if (caller === null) throw new ApiError('NOT_AUTHENTICATED')
  // Some routes that change the library need only read scopes, but a guest must not change anything.
  const mayCall = caller.credential !== 'kiosk' || SAFE_METHODS.has(method)
  if (!mayCall || !hasScopes(caller, access)) {
    const missingScopes = access.scopes?.filter((scope) => !caller.scopes.has(scope))
    throw new ApiError(refusalOf(caller, access), undefined, { missingScopes })
  }
  if (access.admin === true && !isAdministrator(caller)) throw new ApiError('INSUFFICIENT_PERMISSIONS')
  if (access.grant !== undefined) requireGrant(caller, ...access.grant)
  if (access.signedIn) requireSignIn(caller, access.signedIn === 'partly')
}

/** True for a caller without an account. */
export const isGuest = (caller: Caller | null) => caller === null || caller.credential === 'kiosk'

export function isSecureRequest (request: FastifyRequest, config: Config): boolean {
  return config.auth.secure_cookie || request.protocol === 'https'
}
