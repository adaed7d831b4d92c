import type { IncomingMessage } from 'node:http'
import '@fastify/cookie'
import type { FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config/config.ts'
import { ApiError, forbidden } from '../errors.ts'
import {
  type AuthScheme, type Caller, type RequestCredentials, checkAccess, hasScopes, isGuest, readAuthorization
} from './auth.ts'
import { createCsrf } from './csrf.ts'
import type { Secrets } from './secrets.ts'

/** Returns the caller of a credential that one of the schemes knows. */
async function authenticate (credentials: RequestCredentials, schemes: AuthScheme[]): Promise<Caller | null> {
  for (const scheme of schemes) {
    const caller = await scheme.authenticate(credentials)
    if (caller !== null) return caller
  }
  return null
}

function checkDeclared (route: RouteOptions): void {
  const access = route.config
  if (access?.public === true || access?.scopes !== undefined) return
  throw new Error(`Route ${String(route.method)} ${route.url} declares no scopes; add config.scopes, or config.public ` +
    'if anyone may call it')
}

export default fp<{ config: Config, secrets: Secrets }>(async (app, { config, secrets }) => {
  const schemes: AuthScheme[] = []
  const csrf = createCsrf(config, secrets)

  /** Returns the caller of a request. Open routes also answer callers that have to wait before they sign in again. */
  async function identify (request: FastifyRequest, isOpen: boolean): Promise<Caller | null> {
    const authorization = readAuthorization(request)
    // A getter, because the address is costly to determine behind proxies and few schemes need it.
    const credentials = { authorization, cookies: request.cookies, get address () { return request.ip } }
    try {
      return await authenticate(credentials, schemes)
    } catch (err) {
      if (isOpen && err instanceof ApiError && err.code === 'TOO_MANY_REQUESTS') return null
      throw err
    }
  }

  app.decorateRequest('caller', null)
  app.decorateRequest('isIdentified', false)
  app.decorate('auth', {
    addScheme (scheme: AuthScheme) {
      schemes.push(scheme)
      schemes.sort((a, b) => a.order - b.order)
    },
    identifyHandshake (handshake: IncomingMessage) {
      const credentials = {
        authorization: undefined,
        cookies: app.parseCookie(handshake.headers.cookie ?? ''),
        address: handshake.socket.remoteAddress ?? ''
      }
      return authenticate(credentials, schemes.filter((scheme) => scheme.opensSockets))
    },
    identifyToken: (token: string, address: string) =>
      authenticate({ authorization: `Bearer ${token}`, cookies: {}, address }, schemes)
  })

  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => { routes.push(route) })
  // Checked in onReady, because plugins may still add to the options of their own routes.
  app.addHook('onReady', async () => { routes.forEach(checkDeclared) })

  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config
    if (request.is404) {
      await app.limitGuest(request)
      return
    }
    const isOpen = access.public === true || (access.download === true && config.auth.disable_download_endpoint_auth) ||
      access.skipsAuthentication?.(request) === true
    const caller = await identify(request, isOpen)
    // A download URL without credentials is served as to a guest; a token without the needed scopes gives no more.
    const isOther = isOpen && access.download === true && caller !== null && !hasScopes(caller, access)
    request.caller = isOther ? null : caller
    request.isIdentified = true
    if (isGuest(request.caller)) await app.limitGuest(request)
    // First, so that a client whose session has ended is told to sign in, and not that its token is invalid.
    if (!isOpen) checkAccess(request.caller, access, request.method)
    const refusal = csrf.refuse(request)
    if (refusal !== null) {
      // Pages made for RomM look for this word in a body that is not JSON.
      if (config.server.romm_names) return reply.code(403).type('text/plain').send(refusal)
      throw forbidden(refusal)
    }
  })

  app.addHook('onSend', (request, reply, payload, done) => {
    const { caller, headers } = request
    // Responses for one caller must not be stored by shared caches; file routes set their own header.
    if (caller !== null && !reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-store')
    const isBrowser = headers.authorization === undefined || caller?.credential === 'session'
    // A request that was refused before, such as while the server closes, keeps the cookie of its session.
    if (isBrowser && request.isIdentified) csrf.sendCookies(request, reply)
    done(null, payload)
  })
}, { name: 'auth-core', fastify: '5.x', dependencies: ['database', 'limits', '@fastify/cookie'] })
