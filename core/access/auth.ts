import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import '@fastify/cookie'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config/config.ts'
import { ApiError, forbidden } from '../errors.ts'
import { type Access, type GrantAction, type GrantEntity, isGranted, scopesOf } from './grants.ts'
import { cookieNames, readCookies } from './names.ts'
import type { Scope } from './scopes.ts'
import '../web/limits.ts'
import { type Secrets, isEqualSecret } from './secrets.ts'

/** Who is calling, by which credential, and what that credential allows. */
export interface Caller {
  id: number
  username: string
  role: 'admin' | 'user'
  /** What the account may do and see; the scopes may be fewer. */
  access: Access
  scopes: ReadonlySet<Scope>
  credential: 'session' | 'basic' | 'token' | 'oauth' | 'kiosk'
  /** The login session, when that is the credential. */
  session_id: number | null
  /** The client API token, when that is the credential. */
  token_id: number | null
  /** The device that the token, or the browser's session, belongs to. */
  device_id: number | null
  /** Of the account's password when it was found out who calls; another one by now is a reason to ask again. */
  password_mark: string
}

/** What a request or a socket handshake shows of itself. */
export interface Presented {
  authorization: string | undefined
  cookies: Readonly<Record<string, string | undefined>>
  /** The peer's address. */
  address: string
}

/** One way to prove who is calling. The first that recognises the request decides alone. */
export interface AuthScheme {
  name: string
  /** Schemes are tried in this order, lowest first. */
  order: number
  /** Whether a socket of the main endpoint may be opened by it. */
  opensSockets: boolean
  /** The caller, or null when no live credential of this kind was presented. */
  authenticate (presented: Presented): Promise<Caller | null>
}

export interface RouteAccess {
  /** The caller needs all of these. */
  scopes?: readonly Scope[]
  /** Or else all of these. */
  orScopes?: readonly Scope[]
  /** Beside the scopes the caller has to be an administrator; a token needs `users.write` to act as one. */
  admin?: boolean
  /**
   * Beside the scopes the caller has to be signed in: no token that was handed out does, whatever its scopes. An OAuth2
   * sign-in counts with all scopes of its account, or with some of them where the route says `partly`.
   */
  signedIn?: boolean | 'partly'
  /** Beside the scopes the caller needs this grant for things that are not its own. */
  grant?: readonly [GrantEntity, GrantAction]
  /** Anyone may call. */
  public?: boolean
  /**
   * For programs that know addresses and nothing else: a client API token may be in the query as `token`, and anyone
   * may call while DISABLE_DOWNLOAD_ENDPOINT_AUTH is set.
   */
  download?: boolean
  /** Anyone may call whose request this holds for, such as one from an address that the owner names. */
  opensFor?: (request: FastifyRequest) => boolean
  /** Answers without the CSRF pair although it changes something. */
  csrfExempt?: boolean
  /** Reads the Authorization header itself: only a cookie says who is calling. */
  readsAuthorization?: boolean
}

declare module 'fastify' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface FastifyContextConfig extends RouteAccess {}
  interface FastifyRequest { caller: Caller | null }
  interface FastifyInstance {
    auth: {
      addScheme (scheme: AuthScheme): void
      /** Who opens a socket; null for a guest. */
      identifyHandshake (handshake: IncomingMessage): Promise<Caller | null>
      /** Who shows a token by other means than a header; null for nobody. */
      identifyToken (token: string, address: string): Promise<Caller | null>
    }
  }
}

const CSRF_HEADER = 'x-csrftoken'
export const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** The token in an address, where it may be. */
export function readUrlToken ({ query, routeOptions }: FastifyRequest): string | null {
  if (routeOptions.config.download !== true || typeof query !== 'object' || query === null || !('token' in query)) return null
  return typeof query.token === 'string' && query.token !== '' ? query.token : null
}

/** What a request says of its sender; a header goes before the address. */
function readAuthorization (request: FastifyRequest): string | undefined {
  const { routeOptions: { config }, headers } = request
  if (config.readsAuthorization === true) return undefined
  const token = readUrlToken(request)
  return headers.authorization ?? (token === null ? undefined : `Bearer ${token}`)
}

/** The caller of a route that declares scopes; such a route never runs without one. */
export function callerOf (request: FastifyRequest): Caller {
  if (request.caller === null) throw new ApiError('NOT_AUTHENTICATED')
  return request.caller
}

/** @throws ApiError INSUFFICIENT_PERMISSIONS unless the caller's account has the grant. */
export function requireGrant (caller: Caller, entity: GrantEntity, action: GrantAction, isOwn = false): void {
  if (!isGranted(caller.access, entity, action, isOwn)) throw new ApiError('INSUFFICIENT_PERMISSIONS')
}

/**
 * Whether a session or a password says that the caller is the account's owner, and not something that was let in for
 * less. An OAuth2 sign-in begins and ends with the password; with all the account's scopes it is worth a session.
 */
function isSignedIn ({ credential, scopes, access }: Caller, isPartEnough = false): boolean {
  if (credential === 'oauth') return isPartEnough || scopesOf(access).every((scope) => scopes.has(scope))
  return credential === 'session' || credential === 'basic'
}

/** @throws ApiError FORBIDDEN for a token, which must not become more than it is. */
export function requireSignIn (caller: Caller, isPartEnough = false): void {
  if (isSignedIn(caller, isPartEnough)) return
  throw new ApiError('FORBIDDEN', 'A token may not do this, whatever its scopes; sign in, or send username and password by ' +
    'HTTP Basic')
}

/**
 * Whether the caller acts as an administrator. A token that an administrator made for less does not: without the scope
 * to manage accounts, it is good for what its scopes name alone.
 */
export function isAdministrator (caller: Caller): boolean {
  return caller.role === 'admin' && (isSignedIn(caller) || caller.scopes.has('users.write'))
}

function holdsScopes (caller: Caller, { scopes = [], orScopes }: RouteAccess): boolean {
  const holdsAll = (wanted: readonly Scope[]) => wanted.every((scope) => caller.scopes.has(scope))
  return holdsAll(scopes) || (orScopes !== undefined && holdsAll(orScopes))
}

/** @throws ApiError when the caller of a route may not call it. */
function checkAccess (caller: Caller | null, access: RouteAccess, method: string): void {
  if (caller === null) throw new ApiError('NOT_AUTHENTICATED')
  // Some things that change the library need no more than leave to read it; a guest changes nothing.
  if (caller.credential === 'kiosk' && !SAFE_METHODS.has(method)) throw new ApiError('FORBIDDEN')
  if (!holdsScopes(caller, access)) throw new ApiError('FORBIDDEN')
  if (access.admin === true && !isAdministrator(caller)) throw new ApiError('INSUFFICIENT_PERMISSIONS')
  if (access.grant !== undefined) requireGrant(caller, ...access.grant)
  if (access.signedIn) requireSignIn(caller, access.signedIn === 'partly')
}

function checkDeclared (route: RouteOptions): void {
  const access = route.config
  if (access?.public === true || access?.scopes !== undefined) return
  throw new Error(`Route ${String(route.method)} ${route.url} declares no scopes; add config.scopes, or config.public ` +
    'if anyone may call it')
}

/** Whom a CSRF value belongs to: a login session, or nobody yet. */
const bindingOf = (caller: Caller | null) => caller?.session_id === null || caller === null ? 'anonymous' : `session:${caller.session_id}`

function createCsrf (secrets: Secrets) {
  const signatureOf = (nonce: string, caller: Caller | null) => secrets.sign('csrf', `${nonce}.${bindingOf(caller)}`)
  return {
    issue (caller: Caller | null): string {
      // The library keeps random bytes ready for these alone.
      const nonce = randomUUID()
      return `${nonce}.${signatureOf(nonce, caller)}`
    },
    isValid (value: string | undefined, caller: Caller | null): boolean {
      const [nonce, signature] = (value ?? '').split('.')
      return nonce !== undefined && signature !== undefined && isEqualSecret(signature, signatureOf(nonce, caller))
    }
  }
}

/**
 * A request that no browser sent brings nothing along that its sender did not put there. Browsers send their cookies,
 * and with every write the origin of the page. Without the check a foreign page could sign its visitor in, or set up
 * the server.
 */
const isFromBrowser = ({ headers }: FastifyRequest) => headers.cookie !== undefined || headers.origin !== undefined ||
  headers['sec-fetch-site'] !== undefined

const isGuest = (caller: Caller | null) => caller === null || caller.credential === 'kiosk'

export function isSecureRequest (request: FastifyRequest, config: Config): boolean {
  return config.auth.secure_cookie || request.protocol === 'https'
}

export default fp<{ config: Config, secrets: Secrets }>(async (app, { config, secrets }) => {
  const schemes: AuthScheme[] = []
  const csrf = createCsrf(secrets)
  const csrfCookies = cookieNames('csrftoken', config)
  const cookiePath = `${new URL(config.server.base_url).pathname.replace(/\/+$/, '')}/`

  async function authenticate (presented: Presented, tried: AuthScheme[]): Promise<Caller | null> {
    for (const scheme of tried) {
      const caller = await scheme.authenticate(presented)
      if (caller !== null) return caller
    }
    return null
  }

  function needsCsrf (request: FastifyRequest): boolean {
    if (config.auth.disable_csrf_protection || SAFE_METHODS.has(request.method)) return false
    if (request.routeOptions.config.csrfExempt === true) return false
    // A browser sends cookies by itself; a header credential has to be put there by a program that knows it.
    const { caller } = request
    return isGuest(caller)
      ? request.headers.authorization === undefined && isFromBrowser(request)
      : caller?.credential === 'session'
  }

  /** Who calls a route. One that is open answers everybody, also those who have to wait before they sign in again. */
  async function identify (request: FastifyRequest, isOpen: boolean): Promise<Caller | null> {
    const authorization = readAuthorization(request)
    // Behind proxies the address has to be found out, and few ways to sign in want to know it.
    const presented = { authorization, cookies: request.cookies, get address () { return request.ip } }
    try {
      return await authenticate(presented, schemes)
    } catch (err) {
      if (isOpen && err instanceof ApiError && err.code === 'TOO_MANY_REQUESTS') return null
      throw err
    }
  }

  app.decorateRequest('caller', null)
  app.decorate('auth', {
    addScheme (scheme: AuthScheme) {
      schemes.push(scheme)
      schemes.sort((a, b) => a.order - b.order)
    },
    identifyHandshake (handshake: IncomingMessage) {
      const presented = {
        authorization: undefined,
        cookies: app.parseCookie(handshake.headers.cookie ?? ''),
        address: handshake.socket.remoteAddress ?? ''
      }
      return authenticate(presented, schemes.filter((scheme) => scheme.opensSockets))
    },
    identifyToken: (token: string, address: string) =>
      authenticate({ authorization: `Bearer ${token}`, cookies: {}, address }, schemes)
  })

  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => { routes.push(route) })
  // Only now, since plugins may still add to the options of their own routes.
  app.addHook('onReady', async () => { routes.forEach(checkDeclared) })

  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config
    if (request.is404) {
      await app.limitGuest(request)
      return
    }
    const isOpen = access.public === true || (access.download === true && config.auth.disable_download_endpoint_auth) ||
      access.opensFor?.(request) === true
    const caller = await identify(request, isOpen)
    // Whoever knows nothing but the address gets a file as a guest; a token for something else gets no more.
    const isOther = isOpen && access.download === true && caller !== null && !holdsScopes(caller, access)
    request.caller = isOther ? null : caller
    if (isGuest(request.caller)) await app.limitGuest(request)
    if (needsCsrf(request)) {
      const cookies = readCookies(request.cookies, csrfCookies)
      const header = request.headers[CSRF_HEADER]
      const matches = typeof header === 'string' && cookies.some((cookie) => isEqualSecret(header, cookie))
      if (!matches || !csrf.isValid(header, request.caller)) {
        const refusal = 'CSRF token missing or invalid; repeat with the value of the cookie ' +
          `${csrfCookies.join(' or ')} in the header ${CSRF_HEADER}`
        // Pages made for RomM look for the word in a body that is no JSON.
        if (config.server.romm_names) return reply.code(403).type('text/plain').send(refusal)
        throw forbidden(refusal)
      }
    }
    if (!isOpen) checkAccess(request.caller, access, request.method)
  })

  function giveCsrf (request: FastifyRequest, reply: FastifyReply): void {
    const valid = readCookies(request.cookies, csrfCookies).find((cookie) => csrf.isValid(cookie, request.caller))
    const value = valid ?? csrf.issue(request.caller)
    for (const name of csrfCookies.filter((one) => request.cookies[one] !== value)) {
      reply.setCookie(name, value, { path: cookiePath, sameSite: 'lax', secure: isSecureRequest(request, config) })
    }
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    const { caller, headers } = request
    // What was made for one caller is nobody else's to keep; files say for themselves who may.
    if (caller !== null && !reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-store')
    if (headers.authorization === undefined || caller?.credential === 'session') giveCsrf(request, reply)
    done(null, payload)
  })
}, { name: 'auth-core', fastify: '5.x', dependencies: ['database', 'limits', '@fastify/cookie'] })
