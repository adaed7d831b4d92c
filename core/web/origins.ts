import type { Config } from '../config/config.ts'

/**
 * The rights of pages of another site: with the visitor's cookies (`named`), only without them (`any`), or none (null).
 */
export type OriginTrust = 'named' | 'any' | null

/** Allows any site, with fewer rights than configured sites. */
const ANY_ORIGIN = '*'
/** Seconds for which a browser may cache the response of a preflight. */
const PREFLIGHT_SECONDS = 600
/** Response headers that scripts of other sites may read, beside those that are always readable. */
const EXPOSED_HEADERS = [
  'Accept-Ranges', 'Content-Disposition', 'Content-Range', 'Date', 'ETag', 'Retry-After', 'WWW-Authenticate', 'X-Left-Out',
  'X-Patch-Validated', 'X-Request-Id'
]

/**
 * Returns how far the configuration trusts an origin. Origins are compared whole: a subdomain or another port is
 * another site.
 */
export function trustOf (origin: string, { server: { cors_allowed_origins: allowed } }: Config): OriginTrust {
  if (allowed.includes(origin) && origin !== ANY_ORIGIN) return 'named'
  return allowed.includes(ANY_ORIGIN) ? 'any' : null
}

/** Returns the CORS rules for a request with this `Origin`; only configured origins may use credentials. */
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
