import type { Context, Files, LinkMatch, Match, Preferences, ProviderContext } from '@svc/plugin-sdk'
import type { Hold } from './limit-time.ts'

/** What differs from call to call: a scan shares its memo among all ROMs. */
export interface CallScope {
  signal: AbortSignal
  memo: Context['memo']
  preferences: Preferences
  /** The library that is looked at; without it the first. */
  files?: Files
  /** Whether the caller heeds rate limits for all calls of the plugin; else each request waits one out by itself. */
  heedsLimits?: boolean
  /** Stops the caller's clock while a request waits for its turn. */
  hold?: Hold
  /** A scan's options, by the names of its payload. */
  options?: Readonly<Record<string, unknown>>
  found?: ReadonlyMap<string, Match | LinkMatch>
  report?: ProviderContext['report']
}
