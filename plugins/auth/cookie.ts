import type { FastifyRequest } from 'fastify'
import { isSecureRequest } from '../../core/auth.ts'
import { type Config, basePath } from '../../core/config.ts'

export const SESSION_COOKIE = 'svc_session'

/** Where the cookie of a login goes: everything that is served. */
export const cookiePath = (config: Config) => `${basePath(config)}/`

export const cookieOptions = (config: Config, request: FastifyRequest) => ({
  path: cookiePath(config),
  httpOnly: true,
  sameSite: 'lax' as const,
  secure: isSecureRequest(request, config),
  maxAge: config.auth.session_max_age_seconds
})
