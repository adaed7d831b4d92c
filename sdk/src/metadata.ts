import { type Static, Type } from '@sinclair/typebox'

/**
 * Every kind of picture, film or document a game can have; `cover` is the front of the box, and `badge` the small
 * picture of an achievement, of which there are many: each is kept under the last part of its address.
 */
export const MEDIA_KINDS = [
  'cover', 'bezel', 'box2d', 'box2d_back', 'box2d_side', 'box3d', 'miximage', 'miximage_v2', 'physical', 'screenshot',
  'title_screen', 'marquee', 'logo', 'fanart', 'video', 'video_normalized', 'manual', 'badge'
] as const
export type MediaKind = typeof MEDIA_KINDS[number]

export const MediaSchema = Type.Object({
  kind: Type.Union(MEDIA_KINDS.map((kind) => Type.Literal(kind))),
  url: Type.String({
    description: '`https://…`; for files already there `file://<path>` with a path relative to the library, or ' +
      '`folder://<property>/<path>` in a folder that the configuration names'
  })
})
/** One piece of artwork a provider offers. Several of one kind are listed best first. */
export interface Media { kind: MediaKind, url: string }

/** A provider's identifier of a game or platform. */
export type ProviderId = number | string

/** The last moment that a `Date` can hold. */
const LATEST_MS = 8.64e15

/** The fields every provider may fill. Absent means "not known"; an empty value never overwrites another's. */
export const GameFieldsSchema = Type.Partial(Type.Object({
  name: Type.String({ description: 'What is longer than 350 characters is cut' }),
  slug: Type.String(),
  summary: Type.String(),
  sort_name: Type.String({ description: 'What is longer than 500 characters is cut' }),
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
export type GameFields = Static<typeof GameFieldsSchema>

/** Ids of one game at other providers, by their key. */
export type LinkedIds = Record<string, ProviderId | undefined>

/** What a source of ids only knows about one ROM. */
export interface LinkMatch {
  /** How sure the match is, 0 to 1; absent means certain (by hash). */
  score?: number | undefined
  /** The providers named are asked by these ids. */
  ids: LinkedIds
}

/** What a provider knows about one ROM. */
export interface Match<Metadata = Record<string, unknown>, Id extends ProviderId = ProviderId> extends GameFields {
  /** The provider's own id of the game. */
  id: Id
  /**
   * How sure the match is, 0 to 1; absent means certain (by id or hash). Outside a scan from scratch a less sure match
   * of the same source does not take the place of a surer one.
   */
  score?: number | undefined
  /** The same game at other providers; they are asked by this id. */
  ids?: LinkedIds
  media?: Media[]
  /** The provider's raw record under its own schema; stored and shown as `<key>_metadata`. */
  metadata?: Metadata
}

export interface Hashes {
  /** Lower-case hex, 8 digits. */
  readonly crc_hash?: string | undefined
  /** Lower-case hex, 32 digits. */
  readonly md5_hash?: string | undefined
  /** Lower-case hex, 40 digits. */
  readonly sha1_hash?: string | undefined
}

export interface ArchiveMember extends Hashes {
  readonly name: string
  /** Bytes. */
  readonly size: number
}

export interface RomFile extends Hashes {
  readonly file_name: string
  /** The folder, relative to the library. */
  readonly file_path: string
  readonly file_size_bytes: number
  readonly is_top_level: boolean
  /** The SHA-1 a CHD version 5 keeps of its contents. */
  readonly chd_sha1_hash?: string | undefined
  readonly archive_members?: readonly ArchiveMember[] | undefined
  readonly category?: string | undefined
}

export interface RomPlatform {
  /** Canonical slug, such as `snes`. */
  readonly slug: string
  /** Folder name, as found on disk. */
  readonly fs_slug: string
  readonly name: string
  /** The folder, relative to the library. */
  readonly fs_path: string
  /** This provider's own ids of the platform, from its `platforms` table, most usual first; often one, may be none. */
  readonly ids: readonly ProviderId[]
}

/** A ROM as a provider sees it. */
export interface Rom extends Hashes {
  readonly fs_name: string
  readonly fs_name_no_ext: string
  readonly fs_name_no_tags: string
  readonly fs_extension: string
  /** The folder the ROM lies in, relative to the library. */
  readonly fs_path: string
  readonly regions: readonly string[]
  readonly languages: readonly string[]
  readonly revision?: string | undefined
  readonly tags: readonly string[]
  readonly ra_hash?: string | undefined
  /** A serial found in the name, such as `SLUS-00594`. */
  readonly serial?: string | undefined
  /**
   * What the game may be called, most telling first: the title that a table of short names, serials or title ids has
   * for the file, where one is there, then the file's name without tags.
   */
  readonly titles: readonly string[]
  readonly files: readonly RomFile[]
  readonly platform: RomPlatform
  /** The codes of the ROM's own regions, most preferred first: `us`, `eu`, `jp`, … */
  readonly region_codes: readonly string[]
}

/** The schema of what `identify` answers; the `id` is missing only where a source gives other sources' ids. */
export const MatchSchema = Type.Intersect([
  GameFieldsSchema,
  Type.Object({
    id: Type.Optional(Type.Union([
      Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
      Type.String({ minLength: 1 })
    ])),
    score: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    ids: Type.Optional(Type.Record(Type.String(), Type.Union([Type.Integer(), Type.String()]))),
    media: Type.Optional(Type.Array(MediaSchema)),
    metadata: Type.Optional(Type.Unknown())
  })
])
