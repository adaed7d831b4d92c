import type { onSendAsyncHookHandler } from 'fastify'
import { isSecureRequest } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
import { basePath } from '../../core/config/base-url.ts'
import { acceptsPages } from './addresses.ts'

/** Addresses that people open by a link or a redirect, and whose errors a page explains. */
const OPENID_ROUTES: ReadonlySet<string | undefined> = new Set(['/api/login/openid', '/api/oauth/openid'])
/** The page reads this cookie once. An address with the reason could be made up by anybody. */
const COOKIE = 'svc_sign_in_problem'
const LIFETIME_SECONDS = 60

function readDetail (payload: unknown): string {
  const body: unknown = typeof payload === 'string' ? JSON.parse(payload) : null
  const detail = typeof body === 'object' && body !== null && 'detail' in body ? body.detail : null
  return typeof detail === 'string' ? detail : ''
}

/** Creates the hook that leads browsers to the sign-in page, with the reason, if sign-in by OpenID fails. */
export function showSignInProblem (config: Config): onSendAsyncHookHandler {
  const home = `${basePath(config)}/`
  return async (request, reply, payload) => {
    const isFailed = reply.statusCode >= 400 && OPENID_ROUTES.has(request.routeOptions.url)
    if (!isFailed || !acceptsPages(request.headers.accept)) return payload
    reply.setCookie(COOKIE, readDetail(payload), {
      path: home, sameSite: 'lax', secure: isSecureRequest(request, config), maxAge: LIFETIME_SECONDS
    })
    reply.code(303).header('location', `${home}sign-in`).removeHeader('content-type').removeHeader('content-length')
    return ''
  }
}
