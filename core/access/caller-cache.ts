import type { Caller } from './auth.ts'

/** The PostgreSQL channel on which every process hears that what an account or a token may do has changed. */
export const CALLERS_CHANNEL = 'svc_callers'

/** Also without a word from the database nobody is taken for who they were for longer. */
const KEEP_MS = 1_000
const KEPT_MAX = 1_000

/** A caller and when its credential runs out by itself: milliseconds since 1970, or null for never. */
export interface CachedCaller { caller: Caller, expires_at: number | null }

export interface CallerCache {
  /** Who showed this credential a moment ago, or else whom `look` finds; null for nobody, which is not kept. */
  find (credential: string, look: () => Promise<CachedCaller | null>): Promise<Caller | null>
  /** Everybody is looked for anew, also those who are being looked for just now. */
  forget (): void
}

/** Callers by the credential that they showed, so that an app that asks a hundred times is looked for once. */
export function createCallerCache (now: () => number = Date.now): CallerCache {
  let kept = new Map<string, { caller: Caller, until: number }>()

  return {
    async find (credential, look) {
      const known = kept.get(credential)
      if (known !== undefined && now() < known.until) return known.caller
      const [began, into] = [now(), kept]
      const found = await look()
      if (found === null) return null
      if (into.size >= KEPT_MAX) into.clear()
      into.set(credential, { caller: found.caller, until: Math.min(began + KEEP_MS, found.expires_at ?? Infinity) })
      return found.caller
    },
    forget () { kept = new Map() }
  }
}

/**
 * The trigger of a table that says what callers may do.
 *
 * @param changes what is announced, such as `update of "role" or delete`
 */
export const announcesCallers = (table: string, changes: string) => ({
  name: 'announce_callers',
  timing: 'after' as const,
  events: (['insert', 'update', 'delete'] as const).filter((event) => changes.includes(event)),
  forEach: 'statement' as const,
  expression: `create trigger "announce_callers" after ${changes} on "${table}" for each statement execute function announce_callers()`
})
