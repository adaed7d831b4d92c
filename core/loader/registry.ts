import type {
  ChannelDefinition, ExporterDefinition, Limits, PluginKind, ProviderContext, ProviderDefinition
} from '@svc/plugin-sdk'
import type { OutgoingClient } from '../http/client.ts'
import type { CallScope } from './call-scope.ts'
import type { LearntLimits } from './plugin-limits.ts'
import type { Descriptor } from './process/descriptor.ts'

export type PluginStatus = 'active' | 'disabled' | 'unsupported' | 'failed'

/** What is known of a plugin, whether or not it could be loaded. */
export interface PluginRecord {
  kind: PluginKind | null
  key: string
  name: string
  package: string
  version: string | null
  status: PluginStatus
  /** Why it is not active; null when it is. */
  reason: string | null
  /** Whether it came with the server or was added by its owner. */
  origin: 'built-in' | 'community'
}

/** What became of a plugin where it runs. */
export interface PluginReport {
  record: PluginRecord
  /** Whether it may be called, though it may be down just now. */
  is_offered: boolean
}

/** What a package is, whatever the configuration says: its plugin, or why it has none. */
export interface Description {
  descriptor: Descriptor | null
  failure: { status: PluginStatus, reason: string } | null
}

/** What the owner's configuration of a plugin means for its requests. */
export interface Trust {
  /** Values masked in its logs. */
  secrets: readonly string[]
  /** `host:port` that may be a private address. */
  origins: readonly string[]
}

/** An active plugin, ready to be called. */
export interface Loaded<Definition> {
  key: string
  definition: Definition
  trust: Trust
  /** A provider's, for the configuration it has; empty for the other kinds. */
  limits: Limits
  /** Paths of the folders that its configuration names, by property. */
  folders: Readonly<Record<string, string>>
  /** Its own way out, for what the host fetches on its behalf. */
  http: Pick<OutgoingClient, 'withSignal'>
  /** What its service told of its pace and allowances. */
  learnt: LearntLimits
  context (scope: CallScope): ProviderContext
  /** Builds its local index anew; null for a plugin without one. */
  rebuildIndex: ((scope: CallScope) => Promise<number>) | null
}

/** All plugins by kind and key. Only active ones can be called; the others are there with their reason. */
export interface Registry {
  providers: ReadonlyMap<string, Loaded<ProviderDefinition>>
  channels: ReadonlyMap<string, Loaded<ChannelDefinition>>
  exporters: ReadonlyMap<string, Loaded<ExporterDefinition>>
  /** Every plugin that was found, in load order. */
  records: readonly PluginRecord[]
  /** Definitions of disabled plugins too: their schemas are part of the API document. */
  definitions: readonly { kind: PluginKind, definition: Definition }[]
  /** What each package is, in load order. */
  descriptions: readonly Description[]
  /** What became of each plugin, in load order. */
  report (): PluginReport[]
  /** Takes over what the process found out that runs them: what it could not make work is not offered here. */
  adopt (reports: readonly PluginReport[]): void
  /** Calls `listener` whenever a record changed. */
  onChange (listener: () => void): void
}
export type Definition = ProviderDefinition | ChannelDefinition | ExporterDefinition

/** An empty one. Plugins are added while they load; their records change as long as the server runs. */
export function createRegistry () {
  const maps = { provider: new Map(), channel: new Map(), exporter: new Map() } as const
  const records: PluginRecord[] = []
  const definitions: { kind: PluginKind, definition: Definition }[] = []
  const descriptions: Description[] = []
  /** By package and key: of one package there may be two. */
  const added = new Map<string, { kind: PluginKind, loaded: Loaded<Definition> }>()
  const listeners: (() => void)[] = []
  const idOf = ({ kind, key, package: name }: PluginRecord) => `${kind ?? ''} ${key} ${name}`

  /** @returns whether that is news */
  function update (record: PluginRecord, { status, reason }: Pick<PluginRecord, 'status' | 'reason'>): boolean {
    if (record.status === status && record.reason === reason) return false
    Object.assign(record, { status, reason })
    return true
  }

  const tell = () => { for (const listener of listeners) listener() }

  const registry: Registry = {
    providers: maps.provider,
    channels: maps.channel,
    exporters: maps.exporter,
    records,
    definitions,
    descriptions,
    report: () => records.map((record) => ({ record, is_offered: added.has(idOf(record)) })),
    adopt (known) {
      const byId = new Map(known.map((report) => [idOf(report.record), report]))
      for (const record of records) {
        const found = byId.get(idOf(record))
        if (found === undefined) continue
        update(record, found.record)
        const entry = added.get(idOf(record))
        if (entry === undefined) continue
        if (found.is_offered) maps[entry.kind].set(record.key, entry.loaded)
        else maps[entry.kind].delete(record.key)
      }
    },
    onChange (listener) { listeners.push(listener) }
  }

  return {
    registry,
    define (plugin: { kind: PluginKind, definition: Definition }): void { definitions.push(plugin) },
    describe (description: Description): void { descriptions.push(description) },
    /** @param loaded null for one that cannot be called */
    add (record: PluginRecord, loaded: Loaded<Definition> | null): void {
      records.push(record)
      if (loaded === null || record.kind === null) return
      added.set(idOf(record), { kind: record.kind, loaded })
      maps[record.kind].set(record.key, loaded)
    },
    /** Notes that an active plugin is down, or works again; it stays to be called. */
    setDown (record: PluginRecord, reason: string | null): void {
      if (update(record, { status: reason === null ? 'active' : 'failed', reason })) tell()
    }
  }
}

declare module 'fastify' {
  interface FastifyInstance { registry: Registry }
}
