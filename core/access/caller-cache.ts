import { databaseNow } from '../database/clock.ts'
import { createLruCache } from '../lru-cache.ts'
import type { Caller } from './auth.ts'

/** The PostgreSQL channel that tells every process that the rights of an account or a token changed. */
export const CALLERS_CHANNEL = 'svc_callers'

/** Cached callers expire after this time even if no notification from the database arrives. */
const LIFETIME_MS = 1_000
const ENTRIES_MAX = 1_000

/** A caller and the time when its credential expires: milliseconds since 1970, or null for never. */
export interface CachedCaller { caller: Caller, expires_at: number | null }

export interface CallerCache {
  /**
   * Returns the cached caller of a credential, or else the result of `load`; null if there is none. Null is not cached.
   */
  find (credential: string, load: () => Promise<CachedCaller | null>): Promise<Caller | null>
  /** Drops all cached callers, and does not cache the results of lookups that are running. */
  clear (): void
}

/** Creates a cache of callers by credential, because apps send many requests in a row with the same one. */
export function createCallerCache (now: () => number = databaseNow): CallerCache {
  const create = () => createLruCache<string, { caller: Caller, until: number }>({ max: ENTRIES_MAX })
  let cache = create()

  return {
    async find (credential, load) {
      const cached = cache.get(credential)
      if (cached !== undefined && now() < cached.until) return cached.caller
      const [startedAt, into] = [now(), cache]
      const found = await load()
      if (found === null) return null
      into.set(
        credential, { caller: found.caller, until: Math.min(startedAt + LIFETIME_MS, found.expires_at ?? Infinity) }
      )
      return found.caller
    },
    clear () { cache = create() }
  }
}

/**
 * Returns the trigger of a table that determines what callers may do.
 *
 * @param changes the announced changes, such as `update of "role" or delete`
 */
export const callersTrigger = (table: string, changes: string) => ({
  name: 'announce_callers',
  timing: 'after' as const,
  events: (['insert', 'update', 'delete'] as const).filter((event) => changes.includes(event)),
  forEach: 'statement' as const,
  expression: `create trigger "announce_callers" after ${changes} on "${table}" for each statement execute function announce_callers()`
})
