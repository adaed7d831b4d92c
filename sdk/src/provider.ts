import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { IndexEntry, ProviderContext, RequestOptions } from './context.ts'
import type { Limits } from './limits.ts'
import type { LinkMatch, LinkedIds, Match, Media, ProviderId, Rom, RomPlatform } from './metadata.ts'
import { type Plugin, type PluginDefinition, createPlugin } from './plugin.ts'

export interface SearchQuery {
  /** What the user typed. */
  readonly term: string
  readonly platform: RomPlatform
}

/** One picture that a person may choose as cover. */
export interface CoverChoice {
  readonly url: string
  /** A small version of it. */
  readonly thumb: string
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly style?: string | undefined
  readonly author?: string | undefined
  readonly score?: number | undefined
  readonly is_animated?: boolean | undefined
  readonly nsfw?: boolean | undefined
  readonly humor?: boolean | undefined
  readonly epilepsy?: boolean | undefined
}

/** The covers of one game. */
export interface CoverGroup {
  readonly name: string
  readonly covers: readonly CoverChoice[]
}

/** What a source knows of a platform besides its ids. */
export interface PlatformRecord<Id extends ProviderId = ProviderId> {
  readonly ids: readonly Id[]
  /** The maker, such as `Nintendo`. */
  readonly family_name?: string | undefined
  readonly url_logo?: string | undefined
}
/**
 * The source's own id of a platform, several of them, `true` for a platform it knows by no id, or all it knows of it.
 */
export type PlatformEntry<Id extends ProviderId = ProviderId> = Id | readonly Id[] | true | PlatformRecord<Id>

/** A file of artwork that was fetched, before it is kept. */
export interface FetchedMedia {
  /** Lower case, without parameters. */
  readonly content_type: string
  /** Bytes. */
  readonly size: number
  /** Lower-case hex. */
  readonly sha1_hash: string
  /** For a picture: 32 × 32 points of it, three bytes each (red, green, blue), row by row. */
  readonly pixels?: Uint8Array | undefined
}

/** How far a user is in a game, in the words of the marks that users set. */
export const PLAY_STATUSES = ['incomplete', 'finished', 'completed_100'] as const
export type PlayStatus = typeof PLAY_STATUSES[number]

/** How one user fares in one game. A `status` becomes the user's mark of the ROMs that are this game. */
export type GameProgress<Progress> = Progress & { readonly id: ProviderId, readonly status?: PlayStatus | undefined }

/** Limits that depend on the configuration, such as a plan. */
type LimitsOf<Config> = { from(config: Config): Limits }['from']

interface IdTypes { integer: number, string: string }
/** Not `keyof IdTypes`: declarations of packages would have to name that. */
export type ProviderIdType = 'integer' | 'string'
export type ProviderKind = 'games' | 'artwork' | 'ids'

/**
 * What a table of titles is looked up by: MAME's and ScummVM's short names (lower case), the serials of PlayStation
 * games (`SLUS-00594`), the title ids of Switch games.
 */
export type TitleTable = 'mame' | 'scummvm' | 'sony' | 'switch'

/** What `identify` and `getById` find. */
type MatchResult<Kind extends ProviderKind, Id extends ProviderIdType, Metadata> =
  Kind extends 'ids' ? LinkMatch : Match<Metadata, IdTypes[Id]>

/**
 * A metadata source. Methods are capabilities; a missing one means "cannot". One of `identify` and `getById` is
 * there.
 */
export interface ProviderDefinition<
  Kind extends ProviderKind = ProviderKind,
  Id extends ProviderIdType = ProviderIdType,
  Config extends TProperties = TProperties,
  Metadata extends TProperties = TProperties,
  Options extends TProperties = TProperties,
  Account extends TProperties = TProperties,
  Progress extends TProperties = TProperties,
  Ctx = ProviderContext<Static<TObject<Config>>, Static<TObject<Options>>>
> extends PluginDefinition<Config> {
  config?: TObject<Config>
  /**
   * `games` (the default) knows games. `artwork` has pictures only: its match alone does not make a ROM identified.
   * `ids` gives ids of other sources only: it has none of its own.
   */
  kind?: Kind
  /** Whether ids are numbers or text: the type of `<key>_id` in every answer of the server. Not for the kind `ids`. */
  id?: Id
  /** Schema of the raw record kept as `<key>_metadata`. */
  metadata?: TObject<Metadata>
  /** How fast the host may ask; also as a function of the configuration, such as a plan. */
  limits?: Limits | LimitsOf<Static<TObject<Config>>>
  /**
   * Canonical platform slug → what the source knows of it. Platforms not listed are never asked. Absent: all
   * platforms.
   */
  platforms?: Readonly<Record<string, PlatformEntry<IdTypes[ProviderIdType]>>>
  /** The word of the file-name tag that fixes an id: `igdb` for `(igdb-1234)`. Needs `getById`. */
  tag?: string
  /** Keys of other providers whose ids a match of this one may carry; those are asked after it. */
  links?: readonly string[]
  /** Keys of other providers that are asked before this one; `ctx.found` has what they said. */
  after?: readonly string[]
  /**
   * Whether it is asked only about ROMs that those asked always did, or did not, identify; it waits for all of them.
   */
  when?: 'always' | 'identified' | 'unidentified'
  /**
   * What this source says of these, when it knows the ROM, wins over the owner's priorities; of several such sources,
   * what the one asked last says.
   */
  claims?: readonly ('name' | 'summary' | 'media')[]
  /** True when matching needs hashes: the source is also asked by a scan of type `hashes`. */
  usesHashes?: boolean
  /** What `GET /api/heartbeat` calls the flag of this source; default `<KEY>_API_ENABLED`, null for no flag. */
  heartbeatFlag?: string | null
  /** The credit that the source's terms ask for, shown with the plugin. */
  attribution?: string
  /** Options of one scan, each with a default: they become part of a scan's payload. */
  scanOptions?: TObject<Options>
  /** What each user may set for this source, such as their name there; property names as on the wire. */
  account?: TObject<Account>
  /** How one user fares in one game; shown as `<key>_progression` of users and `<key>_progress` of ROMs. */
  progress?: TObject<Progress>
  /**
   * Tables of titles that the local index has: what stands before the key in each, such as `mame:` where the index has
   * `mame:sf2`. Their values are texts; every source finds them in `rom.titles`, once the index is built.
   */
  titles?: Readonly<Partial<Record<TitleTable, string>>>
  /** A local index: `build` gives all its entries, in batches of any size. When it is built anew, its owner says. */
  index?: { build(ctx: Ctx): AsyncIterable<readonly IndexEntry[]> }

  /** The game this ROM is, or undefined when the source does not know it. */
  identify?(rom: Rom, ctx: Ctx): Promise<MatchResult<Kind, Id, Static<TObject<Metadata>>> | undefined>
  /** The game with this id, or undefined. `rom` is there when the id belongs to a ROM. */
  getById?(id: IdTypes[Id], rom: Rom | undefined, ctx: Ctx):
  Promise<MatchResult<Kind, Id, Static<TObject<Metadata>>> | undefined>
  /** Games a person may choose from, best first. */
  search?(query: SearchQuery, ctx: Ctx): Promise<MatchResult<Kind, Id, Static<TObject<Metadata>>>[]>
  /** Covers a person may choose from, by game. */
  searchCovers?(term: string, ctx: Ctx): Promise<CoverGroup[]>
  /** Tells the source which ids a person chose for a ROM. */
  suggest?(rom: Rom, ids: LinkedIds, ctx: Ctx): Promise<void>
  /** The request that fetches one of its media, with what must not be stored or shown, at the source's own pace. */
  fetchMedia?(media: Media, ctx: Ctx): Promise<{ url: string } & Pick<RequestOptions, 'query' | 'headers' | 'timeoutMs'>>
  /** False for a file that is a placeholder; it is not kept. */
  acceptMedia?(media: Media, file: FetchedMedia, ctx: Ctx): Promise<boolean>
  /**
   * How a user fares in all games. `before` is what it answered last time, for sources that tell what changed.
   *
   * @throws InvalidSettingsError when the account does not exist there
   */
  readProgress?(
    account: Static<TObject<Account>>, before: readonly GameProgress<Static<TObject<Progress>>>[] | undefined, ctx: Ctx
  ): Promise<GameProgress<Static<TObject<Progress>>>[]>
  /** Whether the source answers. */
  heartbeat?(ctx: Ctx): Promise<boolean>
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
export function defineProvider<
  Kind extends ProviderKind = 'games', Id extends ProviderIdType = ProviderIdType, Config extends TProperties = TProperties,
  Metadata extends TProperties = TProperties, Options extends TProperties = TProperties,
  Account extends TProperties = TProperties, Progress extends TProperties = TProperties
> (
  definition: ProviderDefinition<Kind, Id, Config, Metadata, Options, Account, Progress>
): Plugin<'provider', ProviderDefinition<Kind, Id, Config, Metadata, Options, Account, Progress>> {
  return createPlugin('provider', definition)
}
