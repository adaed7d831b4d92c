import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RequestCredentials, isSecureRequest } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
import { basePath } from '../../core/config/base-url.ts'
import { cookieNames, readCookies } from '../../core/access/names.ts'

/** Returns the path of the login cookie: everything that is served. */
const cookiePath = (config: Config) => `${basePath(config)}/`

const cookieOptions = (config: Config, request: FastifyRequest) => ({
  path: cookiePath(config),
  httpOnly: true,
  sameSite: 'lax' as const,
  secure: isSecureRequest(request, config),
  maxAge: config.auth.session_max_age_seconds
})

/** Returns the session secret of a request. */
export const readSessionCookie = (config: Config, cookies: RequestCredentials['cookies']): string | undefined =>
  readCookies(cookies, cookieNames('session', config))[0]

export function setSessionCookie (config: Config, request: FastifyRequest, reply: FastifyReply, token: string): void {
  for (const name of cookieNames('session', config)) reply.setCookie(name, token, cookieOptions(config, request))
}

export function clearSessionCookie (config: Config, reply: FastifyReply): void {
  for (const name of cookieNames('session', config)) reply.clearCookie(name, { path: cookiePath(config) })
}
