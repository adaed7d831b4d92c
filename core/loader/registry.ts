import type {
  ChannelDefinition, ExporterDefinition, Limits, PluginKind, ProviderContext, ProviderDefinition
} from '@svc/plugin-sdk'
import type { OutgoingClient } from '../http/client.ts'
import type { CallScope } from './calls/call-scope.ts'
import type { MediaRules } from './calls/media-hosts.ts'
import type { ReportedLimits } from './plugin-limits.ts'
import type { Descriptor } from './descriptor.ts'

export type PluginStatus = 'active' | 'disabled' | 'unsupported' | 'failed'

/** The public data of a plugin, loaded or not. */
export interface PluginRecord {
  kind: PluginKind | null
  key: string
  name: string
  package: string
  version: string | null
  status: PluginStatus
  /** The reason why it is not active; null if it is. */
  reason: string | null
  /** Built-in plugins come with the server; the operator adds community plugins. */
  origin: 'built-in' | 'community'
}

/** The state of a plugin in the process that runs it. */
export interface PluginReport {
  record: PluginRecord
  /** True if it may be called, even if it is down just now. */
  is_offered: boolean
  /** True if a provider's service refuses the credentials. */
  is_refused: boolean
}

/** The content of a package, independent of the configuration: its plugin, or the reason why it has none. */
export interface Description {
  descriptor: Descriptor | null
  failure: { status: PluginStatus, reason: string } | null
}

/** The secrets and trusted addresses in the settings of a plugin, which the operator and administrators set. */
export interface SettingsTrust {
  /** Values masked in its logs. */
  secrets: readonly string[]
  /** `host:port` that may be a private address. */
  origins: readonly string[]
}

/** An active plugin, ready to be called. */
export interface Loaded<Definition> {
  key: string
  definition: Definition
  trust: SettingsTrust
  /** The limits of a provider with its configuration; empty for other kinds. */
  limits: Limits
  /** Paths of the folders that its configuration names, by property. */
  folders: Readonly<Record<string, string>>
  /** Its own HTTP client, for requests of the host on its behalf. */
  http: Pick<OutgoingClient, 'withSignal'>
  /** The addresses from which the server downloads its media; empty for built-in plugins, which may name any. */
  mediaRules: MediaRules
  /** True if its media may come from this URL. */
  allowsMedia (url: string): boolean
  /** The rate limits and allowances that its service reported. */
  reportedLimits: ReportedLimits
  context (scope: CallScope): ProviderContext
  /** Rebuilds its local index; null for a plugin without one. */
  rebuildIndex: ((scope: CallScope) => Promise<number>) | null
}

/** All plugins by kind and key. Only active ones can be called; the others are listed with their reason. */
export interface Registry {
  providers: ReadonlyMap<string, Loaded<ProviderDefinition>>
  channels: ReadonlyMap<string, Loaded<ChannelDefinition>>
  exporters: ReadonlyMap<string, Loaded<ExporterDefinition>>
  /** Every plugin that was found, in load order. */
  records: readonly PluginRecord[]
  /** Definitions, including those of disabled plugins, because their schemas are part of the API document. */
  definitions: readonly { kind: PluginKind, definition: Definition }[]
  /** The description of each package, in load order. */
  descriptions: readonly Description[]
  /** Providers whose service refuses the credentials. */
  refused: ReadonlySet<string>
  /** Notes that a provider's service refuses the credentials, or accepts them again. */
  setRefused (provider: string, isRefused: boolean): void
  /** The status of each plugin, in load order. */
  report (): PluginReport[]
  /** Applies the reports of the process that runs the plugins: plugins that failed there are not offered here. */
  applyReports (reports: readonly PluginReport[]): void
  /** Calls `listener` after each change of a record. */
  onChange (listener: () => void): void
  /** Calls `listener` after a plugin was loaded again with other settings. */
  onReload (listener: (plugin: Pick<PluginRecord, 'kind' | 'key'>) => void): void
}
export type Definition = ProviderDefinition | ChannelDefinition | ExporterDefinition

/** The origin counts, because a community package may have the name of a built-in one. */
const idOf = ({ kind, key, package: name, origin }: PluginRecord) => `${kind ?? ''} ${key} ${name} ${origin}`

/** @returns true if the record changed */
function update (record: PluginRecord, { status, reason }: Pick<PluginRecord, 'status' | 'reason'>): boolean {
  if (record.status === status && record.reason === reason) return false
  Object.assign(record, { status, reason })
  return true
}

/** Creates an empty registry. Plugins are added while they load; their records change as long as the server runs. */
export function createRegistry () {
  const maps = { provider: new Map(), channel: new Map(), exporter: new Map() } as const
  const records: PluginRecord[] = []
  const definitions: { kind: PluginKind, definition: Definition }[] = []
  const descriptions: Description[] = []
  /** Loaded plugins by kind, key and package, because one package may appear twice. */
  const added = new Map<string, { kind: PluginKind, loaded: Loaded<Definition> }>()
  const refused = new Set<string>()
  const listeners: (() => void)[] = []
  const reloadListeners: ((plugin: Pick<PluginRecord, 'kind' | 'key'>) => void)[] = []

  const notifyListeners = () => { for (const listener of listeners) listener() }

  /** @returns whether that is news */
  function updateRefused (provider: string, isRefused: boolean): boolean {
    if (refused.has(provider) === isRefused) return false
    if (isRefused) refused.add(provider)
    else refused.delete(provider)
    return true
  }

  const registry: Registry = {
    providers: maps.provider,
    channels: maps.channel,
    exporters: maps.exporter,
    records,
    definitions,
    descriptions,
    refused,
    setRefused (provider, isRefused) { if (updateRefused(provider, isRefused)) notifyListeners() },
    report: () => records.map((record) => ({
      record, is_offered: added.has(idOf(record)), is_refused: record.kind === 'provider' && refused.has(record.key)
    })),
    applyReports (reports) {
      const byId = new Map(reports.map((report) => [idOf(report.record), report]))
      for (const record of records) {
        const found = byId.get(idOf(record))
        if (found === undefined) continue
        update(record, found.record)
        if (record.kind === 'provider') updateRefused(record.key, found.is_refused)
        const entry = added.get(idOf(record))
        if (entry === undefined) continue
        if (found.is_offered) maps[entry.kind].set(record.key, entry.loaded)
        else maps[entry.kind].delete(record.key)
      }
    },
    onChange (listener) { listeners.push(listener) },
    onReload (listener) { reloadListeners.push(listener) }
  }

  function setLoaded (record: PluginRecord, loaded: Loaded<Definition> | null): void {
    const { kind, key } = record
    if (kind === null) return
    if (loaded === null) {
      added.delete(idOf(record))
      maps[kind].delete(key)
      return
    }
    added.set(idOf(record), { kind, loaded })
    maps[kind].set(key, loaded)
  }

  return {
    registry,
    define (plugin: { kind: PluginKind, definition: Definition }): void { definitions.push(plugin) },
    describe (description: Description): void { descriptions.push(description) },
    /** @param loaded null for a plugin that cannot be called */
    add (record: PluginRecord, loaded: Loaded<Definition> | null): void {
      records.push(record)
      if (loaded !== null) setLoaded(record, loaded)
    },
    /** Replaces a plugin that was loaded again. @param now its new status */
    replace (record: PluginRecord, now: PluginRecord, loaded: Loaded<Definition> | null): void {
      Object.assign(record, { status: now.status, reason: now.reason })
      setLoaded(record, loaded)
      const defined = definitions.find(({ kind, definition }) => kind === record.kind && definition.key === record.key)
      if (defined !== undefined && loaded !== null) defined.definition = loaded.definition
      for (const listener of reloadListeners) listener(record)
      notifyListeners()
    },
    /** Records that an active plugin is down, or works again; it stays callable. */
    setDown (record: PluginRecord, reason: string | null): void {
      if (update(record, { status: reason === null ? 'active' : 'failed', reason })) notifyListeners()
    }
  }
}

declare module 'fastify' {
  interface FastifyInstance { registry: Registry }
}
