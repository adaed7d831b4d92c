import { randomUUID } from 'node:crypto'
import '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import { basePath } from '../config/base-url.ts'
import { type Caller, SAFE_METHODS, isGuest, isSecureRequest } from './auth.ts'
import { cookieNames, readCookies } from './names.ts'
import { type Secrets, isEqualSecret } from './secrets.ts'

const CSRF_HEADER = 'x-csrftoken'

/** Returns the owner of a CSRF value: a login session, or `anonymous` before a sign-in. */
const bindingOf = (caller: Caller | null) => caller?.session_id === null || caller === null ? 'anonymous' : `session:${caller.session_id}`

/**
 * True if a browser may have sent the request. Browsers add cookies, and the origin of the page with every write.
 * Without the CSRF check a foreign page could sign its visitor in, or set up the server. Other clients send nothing
 * that their program did not add.
 */
const isFromBrowser = ({ headers }: FastifyRequest) => headers.cookie !== undefined || headers.origin !== undefined ||
  headers['sec-fetch-site'] !== undefined

function needsCsrf (request: FastifyRequest, config: Config): boolean {
  if (config.auth.disable_csrf_protection || SAFE_METHODS.has(request.method)) return false
  if (request.routeOptions.config.csrfExempt === true) return false
  // A browser sends cookies by itself; only a program that knows the credential can send it in a header.
  const { caller } = request
  return isGuest(caller)
    ? request.headers.authorization === undefined && isFromBrowser(request)
    : caller?.credential === 'session'
}

/**
 * Creates the protection from foreign pages: they cannot read the cookie whose value each write repeats in a header.
 */
export function createCsrf (config: Config, secrets: Secrets) {
  const names = cookieNames('csrftoken', config)
  const path = `${basePath(config)}/`
  const signatureOf = (nonce: string, caller: Caller | null) => secrets.sign('csrf', `${nonce}.${bindingOf(caller)}`)

  function issue (caller: Caller | null): string {
    // randomUUID() is fast, because Node caches random bytes for it.
    const nonce = randomUUID()
    return `${nonce}.${signatureOf(nonce, caller)}`
  }

  function isValid (value: string | undefined, caller: Caller | null): boolean {
    const [nonce, signature] = (value ?? '').split('.')
    return nonce !== undefined && signature !== undefined && isEqualSecret(signature, signatureOf(nonce, caller))
  }

  return {
    /** Returns the reason why a request is refused; null if it is not. */
    refuse (request: FastifyRequest): string | null {
      if (!needsCsrf(request, config)) return null
      const header = request.headers[CSRF_HEADER]
      const matches = typeof header === 'string' && readCookies(request.cookies, names).some((cookie) => isEqualSecret(header, cookie))
      if (matches && isValid(header, request.caller)) return null
      return `CSRF token missing or invalid; repeat with the value of the cookie ${names.join(' or ')} in the header ${CSRF_HEADER}`
    },
    /** Sends the value to the caller's browser, unless the browser has one. */
    sendCookies (request: FastifyRequest, reply: FastifyReply): void {
      const valid = readCookies(request.cookies, names).find((cookie) => isValid(cookie, request.caller))
      const value = valid ?? issue(request.caller)
      for (const name of names.filter((one) => request.cookies[one] !== value)) {
        reply.setCookie(name, value, { path, sameSite: 'lax', secure: isSecureRequest(request, config) })
      }
    }
  }
}
