import type { Config } from '../config/config.ts'

/** What pages of another site may do: act with the visitor's cookies, only without them, or nothing. */
export type OriginTrust = 'named' | 'any' | null

/** Any site at all, which is told from sites that were chosen. */
const ANY_ORIGIN = '*'
/** Seconds a browser may keep the answer of a preflight. */
const PREFLIGHT_SECONDS = 600
/** Headers of answers that scripts of other sites may read, beside those that all may. */
const EXPOSED_HEADERS = [
  'Accept-Ranges', 'Content-Disposition', 'Content-Range', 'ETag', 'Retry-After', 'WWW-Authenticate', 'X-Left-Out',
  'X-Request-Id'
]

/** How far the configuration trusts an origin. Compared whole: a subdomain or another port is another site. */
export function trustOf (origin: string, { server: { cors_allowed_origins: allowed } }: Config): OriginTrust {
  if (allowed.includes(origin) && origin !== ANY_ORIGIN) return 'named'
  return allowed.includes(ANY_ORIGIN) ? 'any' : null
}

/** The CORS rules for a request with this `Origin`; whatever is not named is never given credentials. */
export function corsOptionsFor (origin: string | undefined, config: Config) {
  const trust = origin === undefined ? null : trustOf(origin, config)
  return {
    origin: trust === 'named' && origin !== undefined ? origin : trust === 'any' ? ANY_ORIGIN : false,
    credentials: trust === 'named',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS
  }
}
