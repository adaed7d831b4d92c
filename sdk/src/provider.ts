import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { Context } from './context.ts'
import type { Match, ProviderId, Rom, RomPlatform } from './metadata.ts'
import { type Plugin, type PluginDefinition, createPlugin } from './plugin.ts'

export interface SearchQuery {
  /** What the user typed. */
  readonly term: string
  readonly platform: RomPlatform
}

/** A metadata source. Methods other than `identify` are capabilities; a missing one means "cannot". */
export interface ProviderDefinition<
  Config extends TProperties = TProperties, Metadata extends TProperties = TProperties
> extends PluginDefinition<Config> {
  config?: TObject<Config>
  /** Whether ids are numbers or text: the type of `<key>_id` in every answer of the server. */
  id: 'integer' | 'string'
  /** Schema of the raw record kept as `<key>_metadata`. */
  metadata?: TObject<Metadata>
  /** How fast the host may call: at once (default 4), per second, and milliseconds per call (default 60,000). */
  limits?: { concurrency?: number, perSecond?: number, timeoutMs?: number }
  /** Canonical platform slug → the source's own id. Platforms not listed are never asked. Absent: all platforms. */
  platforms?: Readonly<Record<string, ProviderId>>
  /** The word of the file-name tag that fixes an id: `igdb` for `(igdb-1234)`. Needs `getById`. */
  tag?: string
  /** Keys of other providers whose ids a match of this one may carry; those wait for it. */
  links?: readonly string[]
  /** False when a match of this source alone does not count as identified, such as one of artwork only. */
  identifies?: boolean
  /** True when matching needs hashes: the source is also asked by a scan of type `hashes`. */
  usesHashes?: boolean
  /** What `GET /api/heartbeat` calls the flag of this source; default `<KEY>_API_ENABLED`, null for no flag. */
  heartbeatFlag?: string | null

  /** The game this ROM is, or null when the source does not know it. */
  identify(rom: Rom, ctx: Context<Static<TObject<Config>>>): Promise<Match<Static<TObject<Metadata>>> | null>
  /** The game with this id, or null. `rom` is there when the id belongs to a ROM. */
  getById?(id: ProviderId, rom: Rom | null, ctx: Context<Static<TObject<Config>>>):
  Promise<Match<Static<TObject<Metadata>>> | null>
  /** Games a person may choose from, best first. */
  search?(query: SearchQuery, ctx: Context<Static<TObject<Config>>>): Promise<Match<Static<TObject<Metadata>>>[]>
  /** Whether the source answers. */
  heartbeat?(ctx: Context<Static<TObject<Config>>>): Promise<boolean>
  /** Downloads or rebuilds a local index, as a scheduled task. */
  refresh?(ctx: Context<Static<TObject<Config>>>): Promise<void>
}

export type Provider = Plugin<'provider', ProviderDefinition>

/**
 * Declares a metadata source.
 *
 * @example
 * export default defineProvider({
 *   key: 'demo', name: 'Demo', id: 'integer',
 *   async identify (rom, { http }) { … }
 * })
 */
export function defineProvider<Config extends TProperties = TProperties, Metadata extends TProperties = TProperties> (
  definition: ProviderDefinition<Config, Metadata>
): Plugin<'provider', ProviderDefinition<Config, Metadata>> {
  return createPlugin('provider', definition)
}
