import type { Cache, Files, Logger, Match, Preferences, ProviderContext } from '@svc/plugin-sdk'
import type { Config } from '../config/config.ts'
import type { OutgoingClient } from '../http/client.ts'
import type { CallScope } from './calls/call-scope.ts'
import type { HostIndex } from './search-index/plugin-index.ts'
import type { ReportedLimits } from './plugin-limits.ts'

export function readPreferences (config: Config): Preferences {
  return { regions: config.scan.priority.region, languages: config.scan.priority.language, media: config.scan.media }
}

/** The services of a plugin, which live as long as the process. */
export interface PluginServices {
  config: unknown
  http: OutgoingClient
  log: Logger
  cache: Cache
  files: Files
  folders: Readonly<Record<string, Files>>
  index: HostIndex
  reportedLimits: ReportedLimits
}

const NO_MATCHES: ReadonlyMap<string, Match> = new Map()

export function createContext (services: PluginServices, scope: CallScope): ProviderContext {
  const { throwsRateLimits = false, pauseClock, signal, memo, preferences } = scope
  const { options = {}, found = NO_MATCHES, report = () => {}, explain = () => {}, files = services.files } = scope
  const http = services.http.withSignal(signal, { throwsRateLimits, onWait: pauseClock })
  const { reportedLimits: _learnt, ...shared } = services
  return { ...shared, files, http, signal, memo, preferences, options, found, report, explain }
}
