import type {
  ChannelDefinition, ExporterDefinition, Limits, PluginKind, ProviderContext, ProviderDefinition
} from '@svc/plugin-sdk'
import type { OutgoingClient } from '../http/client.ts'
import type { CallScope } from './call-scope.ts'
import type { LearntLimits } from './plugin-limits.ts'

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
  definitions: readonly { kind: PluginKind, definition: ProviderDefinition | ChannelDefinition | ExporterDefinition }[]
}

declare module 'fastify' {
  interface FastifyInstance { registry: Registry }
}
