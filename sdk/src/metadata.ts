import { type Static, Type } from '@sinclair/typebox'

/**
 * All kinds of picture, film or document that a game can have. `cover` is the front of the box. `badge` is the small
 * picture of an achievement; a game has many, each stored under the last part of its URL.
 */
export const MEDIA_KINDS = [
  'cover', 'bezel', 'box2d', 'box2d_back', 'box2d_side', 'box3d', 'miximage', 'miximage_v2', 'physical', 'screenshot',
  'title_screen', 'marquee', 'logo', 'fanart', 'video', 'video_normalized', 'manual', 'badge'
] as const
/** One of {@link MEDIA_KINDS}. */
export type MediaKind = typeof MEDIA_KINDS[number]

/** The schema of {@link Media}. */
export const MediaSchema = Type.Object({
  kind: Type.Union(MEDIA_KINDS.map((kind) => Type.Literal(kind))),
  url: Type.String({
    description: '`https://…`; for files already there `file://<path>` with a path relative to the library, or ' +
      '`folder://<property>/<path>` in a folder that the configuration names'
  })
})
/** One piece of artwork that a provider offers. Several of one kind are listed best first. */
export interface Media { kind: MediaKind, url: string }

/** A provider's identifier of a game or platform. */
export type ProviderId = number | string

/** The latest moment that a `Date` can hold. */
const LATEST_MS = 8.64e15

/**
 * The fields that every provider may fill. Absent means "not known"; an empty value never overwrites another
 * provider's.
 */
export const GameFieldsSchema = Type.Partial(Type.Object({
  name: Type.String({ description: 'Cut to 350 characters' }),
  slug: Type.String(),
  summary: Type.String({ description: 'Cut to 60,000 characters' }),
  sort_name: Type.String({ description: 'Cut to 500 characters' }),
  alternative_names: Type.Array(Type.String()),
  genres: Type.Array(Type.String()),
  franchises: Type.Array(Type.String()),
  collections: Type.Array(Type.String()),
  companies: Type.Array(Type.String()),
  developers: Type.Array(Type.String()),
  publishers: Type.Array(Type.String()),
  game_modes: Type.Array(Type.String()),
  age_ratings: Type.Array(Type.String()),
  min_age: Type.Integer({ minimum: 0, maximum: 21, description: 'Years; the strictest of all ratings, see `minimumAge`' }),
  regions: Type.Array(Type.String()),
  languages: Type.Array(Type.String()),
  player_count: Type.String({ description: '`1`, `1-4`, …; `1` counts as not known' }),
  first_release_date: Type.Integer({
    minimum: -LATEST_MS, maximum: LATEST_MS, description: 'Milliseconds since 1970-01-01 UTC'
  }),
  average_rating: Type.Number({ minimum: 0, maximum: 100 }),
  youtube_video_id: Type.String()
}))
/** All fields of {@link GameFieldsSchema}, none of which is missing. */
export type KnownFields = Required<Static<typeof GameFieldsSchema>>
/** The fields of {@link GameFieldsSchema}; `undefined` counts as absent. */
export type GameFields = { [Name in keyof KnownFields]?: KnownFields[Name] | undefined }

/** Ids of one game at other providers, by their key. */
export type LinkedIds = Record<string, ProviderId | undefined>

/** The ids that a provider of kind `ids` knows for one ROM. */
export interface LinkMatch {
  /** Certainty of the match, 0 to 1; absent means certain (by hash). */
  score?: number | undefined
  /** Ids by provider key; each of these providers loads the game by its id. */
  ids: LinkedIds
}

/** A provider's data about one ROM. */
export interface Match<Metadata = Record<string, unknown>, Id extends ProviderId = ProviderId> extends GameFields {
  /** The provider's own id of the game. */
  id: Id
  /**
   * Certainty of the match, 0 to 1; absent means certain (by id or hash). A less certain match does not replace a
   * more certain one of the same provider, except in a scan from scratch.
   */
  score?: number | undefined
  /** Ids of the same game at other providers; each of them loads the game by its id. */
  ids?: LinkedIds | undefined
  /** The host stores the first 2,000 badges and the first 500 other media. */
  media?: Media[] | undefined
  /** The provider's raw record under its own schema; stored and shown as `<key>_metadata`. */
  metadata?: Metadata | undefined
}

/** The hashes of a file; those that are not known are absent. */
export interface Hashes {
  /** Lower-case hex, 8 digits. */
  readonly crc_hash?: string | undefined
  /** Lower-case hex, 32 digits. */
  readonly md5_hash?: string | undefined
  /** Lower-case hex, 40 digits. */
  readonly sha1_hash?: string | undefined
}

/** A file in an archive, with the hashes of its unpacked content. */
export interface ArchiveMember extends Hashes {
  readonly name: string
  /** Bytes. */
  readonly size: number
}

/** One file of a ROM. A ROM that is a folder has several. */
export interface RomFile extends Hashes {
  readonly file_name: string
  /** The folder, relative to the library. */
  readonly file_path: string
  readonly file_size_bytes: number
  readonly is_top_level: boolean
  /** The SHA-1 of the contents, which a CHD version 5 stores in its header. */
  readonly chd_sha1_hash?: string | undefined
  readonly archive_members?: readonly ArchiveMember[] | undefined
  readonly category?: string | undefined
}

/** The platform of a ROM, as a provider receives it. */
export interface RomPlatform {
  /** Canonical slug, such as `snes`. */
  readonly slug: string
  /** Folder name on disk. */
  readonly fs_slug: string
  readonly name: string
  /** The folder, relative to the library. */
  readonly fs_path: string
  /** This provider's own ids of the platform, from its `platforms` table, most usual first; often one, may be none. */
  readonly ids: readonly ProviderId[]
}

/** A ROM as a provider receives it. */
export interface Rom extends Hashes {
  /** The name of its file or folder, with extension and tags. */
  readonly fs_name: string
  readonly fs_name_no_ext: string
  readonly fs_name_no_tags: string
  readonly fs_extension: string
  /** The folder of the ROM, relative to the library. */
  readonly fs_path: string
  /** Names of regions in the file name, such as `USA`. */
  readonly regions: readonly string[]
  /** English names of languages in the file name, such as `French`. */
  readonly languages: readonly string[]
  readonly revision?: string | undefined
  /** Tags of the file name with another meaning than region, language, revision and version. */
  readonly tags: readonly string[]
  /** Lower-case hex, 32 digits; RetroAchievements computes it by platform. */
  readonly ra_hash?: string | undefined
  /** A serial in the file name, such as `SLUS-00594`. */
  readonly serial?: string | undefined
  /**
   * Possible titles of the game, most reliable first. A title from a table of short names, serials or title ids comes
   * first, if one exists. The file name without tags comes last.
   */
  readonly titles: readonly string[]
  readonly files: readonly RomFile[]
  readonly platform: RomPlatform
  /** The codes of the ROM's own regions, most preferred first: `us`, `eu`, `jp`, … */
  readonly region_codes: readonly string[]
}

/** The schema of the result of `identify`; only providers of kind `ids` omit the `id`. */
export const MatchSchema = Type.Intersect([
  GameFieldsSchema,
  Type.Object({
    id: Type.Optional(Type.Union([
      Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
      Type.String({ minLength: 1 })
    ])),
    score: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    ids: Type.Optional(Type.Record(Type.String(), Type.Union([Type.Integer(), Type.String()]))),
    media: Type.Optional(Type.Array(MediaSchema, { description: 'Cut to 2,000 badges and 500 other media' })),
    metadata: Type.Optional(Type.Unknown())
  })
])
