import type { Context, Files, LinkMatch, Match, Preferences, ProviderContext } from '@svc/plugin-sdk'
import type { PauseClock } from '../../concurrency/limit-time.ts'

/** Parameters that differ from call to call. A scan shares its memo among all ROMs. */
export interface CallScope {
  signal: AbortSignal
  memo: Context['memo']
  preferences: Preferences
  /** The library to read; by default the first. */
  files?: Files
  /** True if the caller handles rate limits for all calls of the plugin; else each request waits for its own. */
  throwsRateLimits?: boolean
  /** Stops the caller's clock while a request waits for its turn. */
  pauseClock?: PauseClock
  /** A scan's options, by the names of its payload. */
  options?: Readonly<Record<string, unknown>>
  found?: ReadonlyMap<string, Match | LinkMatch>
  report?: ProviderContext['report']
  /** Receives the steps of a lookup; by default nobody does. */
  explain?: ProviderContext['explain']
}
