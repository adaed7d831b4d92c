import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { IndexEntry, ProviderContext, RequestOptions } from './context.ts'
import type { Limits } from './limits.ts'
import type { LinkMatch, LinkedIds, Match, Media, ProviderId, Rom, RomPlatform } from './metadata.ts'
import type { Plugin, PluginDefinition } from './plugin.ts'

/** A search that a person started for one ROM. */
export interface SearchQuery {
  /** The text that the user typed. */
  readonly term: string
  readonly platform: RomPlatform
}

/** A picture that a person may choose as cover. */
export interface CoverChoice {
  readonly url: string
  /** The URL of a small version of the picture. */
  readonly thumb: string
  /** Pixels, as is the height. */
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly style?: string | undefined
  readonly author?: string | undefined
  /** The service's own rating of the picture; any scale. */
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

/** A provider's data about a platform besides its ids. */
export interface PlatformRecord<Id extends ProviderId = ProviderId> {
  readonly ids: readonly Id[]
  /** The maker, such as `Nintendo`. */
  readonly family_name?: string | undefined
  readonly url_logo?: string | undefined
}
/** A provider's entry for a platform: one id, several ids, `true` for a platform without an id, or a full record. */
export type PlatformEntry<Id extends ProviderId = ProviderId> = Id | readonly Id[] | true | PlatformRecord<Id>

/** A downloaded artwork file that is not stored yet. */
export interface FetchedMedia {
  /** Media type in lower case, without parameters. */
  readonly content_type: string
  /** Bytes. */
  readonly size: number
  /** Lower-case hex. */
  readonly sha1_hash: string
  /** For a picture: a copy scaled to 32 × 32 pixels, three bytes each (red, green, blue), row by row. */
  readonly pixels?: Uint8Array | undefined
}

/** The progress of a user in a game, as one of the marks that users set. */
export const PLAY_STATUSES = ['incomplete', 'finished', 'completed_100'] as const
/** One of {@link PLAY_STATUSES}. */
export type PlayStatus = typeof PLAY_STATUSES[number]

/** The progress of one user in one game. A `status` becomes the user's mark of all ROMs of this game. */
export type GameProgress<Progress> = Progress & { readonly id: ProviderId, readonly status?: PlayStatus | undefined }

/** Limits that depend on the configuration, such as on a plan. */
type LimitsOf<Config> = { from(config: Config): Limits }['from']

interface IdTypes { integer: number, string: string }
/** Not `keyof IdTypes`, because the type declarations of packages would then have to name that type. */
export type ProviderIdType = 'integer' | 'string'
/** The knowledge of a provider: games, only their artwork, or only ids of other providers. */
export type ProviderKind = 'games' | 'artwork' | 'ids'

/**
 * The kinds of key in a table of titles: MAME's and ScummVM's short names (lower case), the serials of PlayStation
 * games (`SLUS-00594`), the title ids of Switch games.
 */
export type TitleTable = 'mame' | 'scummvm' | 'sony' | 'switch'

/** The place of a provider among the others. Providers that do not wait for each other run at the same time. */
export interface ProviderOrder {
  /** Keys of other providers whose ids a match of this provider may carry; those providers run after this one. */
  links?: readonly string[]
  /** Keys of other providers that run before this one; `ctx.found` holds their matches. */
  after?: readonly string[]
  /**
   * Limits the lookups to ROMs that the `always` providers did, or did not, identify; this provider then waits for
   * all of them.
   */
  when?: 'always' | 'identified' | 'unidentified'
}

/** The download of a provider's media. Without this group the host fetches each URL as it is. */
export interface ProviderMedia<Ctx = ProviderContext> {
  /**
   * Returns the request for one of the provider's media, with parts that must not be stored or shown. The provider's
   * limits apply.
   */
  fetch(media: Media, ctx: Ctx): Promise<{ url: string } & Pick<RequestOptions, 'query' | 'headers' | 'timeoutMs'>>
  /** Returns false for a placeholder file, which the host does not store. */
  accept?(media: Media, file: FetchedMedia, ctx: Ctx): Promise<boolean>
}

/** A local index of a provider that serves one large file. */
export interface ProviderIndex<Ctx = ProviderContext> {
  /** Yields all entries, in batches of any size. The operator schedules rebuilds. */
  build(ctx: Ctx): AsyncIterable<readonly IndexEntry[]>
  /**
   * Tables of titles in the index, by the prefix of their keys, such as `mame:` for the key `mame:sf2`. Values are
   * texts. All providers see them in `rom.titles` once the index is built.
   */
  titles?: Readonly<Partial<Record<TitleTable, string>>>
}

/** The progress of users at the provider's service. */
export interface ProviderProgress<
  Account extends TProperties = TProperties, Progress extends TProperties = TProperties, Ctx = ProviderContext
> {
  /** Settings of each user for this provider, such as a user name at the service; property names as on the wire. */
  account: TObject<Account>
  /** The progress of one user in one game; shown as `<key>_progression` of users and `<key>_progress` of ROMs. */
  schema: TObject<Progress>
  /**
   * Returns the progress of a user in all games. `before` is the previous result, for services that report only
   * changes.
   *
   * @throws InvalidSettingsError when the account does not exist there
   */
  read(
    account: Static<TObject<Account>>, before: readonly GameProgress<Static<TObject<Progress>>>[] | undefined, ctx: Ctx
  ): Promise<GameProgress<Static<TObject<Progress>>>[]>
}

/** The result type of `identify` and `getById`. */
type MatchResult<Kind extends ProviderKind, Id extends ProviderIdType, Metadata> =
  Kind extends 'ids' ? LinkMatch : Match<Metadata, IdTypes[Id]>

/**
 * A metadata provider. Methods are capabilities; a missing method means "cannot". At least one of `identify` and
 * `getById` is required.
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
   * `games` (the default) knows games. `artwork` has only pictures, and its match alone does not identify a ROM.
   * `ids` returns only ids of other providers and has no ids of its own.
   */
  kind?: Kind
  /** The type of ids, number or text: the type of `<key>_id` in all API responses. Not for the kind `ids`. */
  id?: Id
  /** Schema of the raw record stored as `<key>_metadata`. */
  metadata?: TObject<Metadata>
  /** Limits on requests of the host; may be a function of the configuration, such as of a plan. */
  limits?: Limits | LimitsOf<Static<TObject<Config>>>
  /**
   * Canonical platform slug → the provider's entry for it. The host never asks the provider about other platforms.
   * Absent: all platforms.
   */
  platforms?: Readonly<Record<string, PlatformEntry<IdTypes[ProviderIdType]>>>
  /** The word in a file-name tag that sets an id: `igdb` for `(igdb-1234)`. Needs `getById`. */
  tag?: string
  /**
   * Fields in which a match of this provider overrides the operator's priorities. If several providers claim a field,
   * the one that runs last wins.
   */
  claims?: readonly ('name' | 'summary' | 'media')[]
  /** True if matching needs hashes: a scan of type `hashes` then also runs this provider. */
  usesHashes?: boolean
  /** The name of this provider's flag in `GET /api/heartbeat`; default `<KEY>_API_ENABLED`, null for no flag. */
  heartbeatFlag?: string | null
  /** The credit that the service's terms require, shown with the plugin. */
  attribution?: string
  /** Options of one scan, each with a default; they become part of the scan's payload. */
  scanOptions?: TObject<Options>

  /** Returns the match of a ROM, or undefined when the provider does not know the ROM. */
  identify?(rom: Rom, ctx: Ctx): Promise<MatchResult<Kind, Id, Static<TObject<Metadata>>> | undefined>
  /** Returns the game with this id, or undefined. `rom` is present when the id belongs to a ROM. */
  getById?(id: IdTypes[Id], rom: Rom | undefined, ctx: Ctx):
  Promise<MatchResult<Kind, Id, Static<TObject<Metadata>>> | undefined>
  /** Returns games for a person to choose from, best first. */
  search?(query: SearchQuery, ctx: Ctx): Promise<MatchResult<Kind, Id, Static<TObject<Metadata>>>[]>
  /** Returns covers for a person to choose from, by game. */
  searchCovers?(term: string, ctx: Ctx): Promise<CoverGroup[]>
  /** Sends the ids that a person chose for a ROM to the provider. */
  suggest?(rom: Rom, ids: LinkedIds, ctx: Ctx): Promise<void>
  /** Returns true if the service answers. */
  heartbeat?(ctx: Ctx): Promise<boolean>

  order?: ProviderOrder
  media?: ProviderMedia<Ctx>
  index?: ProviderIndex<Ctx>
  progress?: ProviderProgress<Account, Progress, Ctx>
}

/** A provider of any type, as a package exports it. */
export type Provider = Plugin<'provider', ProviderDefinition>

/**
 * Declares a metadata provider.
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
  return { kind: 'provider', definition }
}
