import type { MediaKind } from '@svc/plugin-sdk'
import type { ArchiveMember } from '../../core/archives/types.ts'
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { CompiledStatements } from '../../core/database/compiled-statements.ts'
import type { Condition } from '../../core/database/conditions.ts'
import type { Db } from '../../core/database/db.ts'
import { isReadable } from '../notes/rows.ts'
import { type AnyCaller, callerKey } from '../platforms/visibility.ts'
import { type VersionRow, versionsOf } from '../library-versions/version-rows.ts'
import { type MembershipRow, selectMembershipsOf } from './filters/membership-rows.ts'
import type { DumpStatus, RomFile, RomUser, RomValues, StoredMedia, TrackMeta } from './entities.ts'
import { type RomColumnIn, romColumnsIn, selectRomColumns } from './rom-columns.ts'
import { isRomVisible } from './visibility.ts'

type Time = 'created_at' | 'updated_at'

/**
 * The data of a ROM that is the same for every caller: with its platform, matches, and files by name. Times are
 * milliseconds since 1970.
 */
export interface RomRow extends Omit<RomValues<RomColumnIn<'row'>>, Time>, Record<Time, number> {
  platform_slug: string
  platform_fs_slug: string
  platform_name: string
  platform_custom_name: string | null
  /** Null if the platform has no DAT. */
  dump_status: DumpStatus | null
  /** Redeclared without the mark of a default, which the entity's type adds and `Object.entries` does not accept. */
  media: Partial<Record<MediaKind, StoredMedia>>
  matches: MatchRow[]
  files: FileRow[]
}

export interface MarksRow extends Pick<RomUser, 'id' | 'is_main_sibling' | 'backlogged' | 'now_playing' | 'hidden' |
  'rating' | 'difficulty' | 'completion'> {
  rom_id: number
  user_id: number
  status: NonNullable<RomUser['status']> | null
  last_played: number | null
  created_at: number
  updated_at: number
}

export interface FileRow extends Pick<RomFile, 'id' | 'file_name' | 'file_path' | 'file_size_bytes' | 'is_top_level' |
  'crc_hash' | 'md5_hash' | 'sha1_hash'> {
  rom_id: number
  category: string | null
  ra_hash: string | null
  chd_sha1_hash: string | null
  archive_members: ArchiveMember[] | null
  track_meta: TrackMeta | null
  created_at: number
  updated_at: number
  last_modified: number
}

export interface MatchRow {
  provider: string
  /** Null if the provider only gives ids of other providers. */
  provider_id: string | null
  metadata: Record<string, unknown> | null
}

/** The identity of a ROM at one provider. */
export type Game = Pick<MatchRow, 'provider' | 'provider_id'>

/** The caller's progress in one game of a provider. */
export interface ProgressRow {
  provider: string
  provider_id: string
  progress: Record<string, unknown>
}

export interface SiblingRow {
  id: number
  name: string | null
  fs_name_no_tags: string
  fs_name_no_ext: string
  is_main_sibling: boolean
}

const MARK_COLUMNS = sql`u.id, u.rom_id, u.user_id, u.is_main_sibling, u.backlogged, u.now_playing, u.hidden, u.rating,
  u.difficulty, u.completion, u.status, ${selectMilliseconds('u.last_played')} as last_played,
  ${selectMilliseconds('u.created_at')} as created_at, ${selectMilliseconds('u.updated_at')} as updated_at`

const ROM_ROW = sql`p.slug as platform_slug, p.fs_slug as platform_fs_slug, p.name as platform_name,
  p.custom_name as platform_custom_name, (select d.status from rom_dumps d where d.rom_id = r.id) as dump_status,
  ${sql.raw(selectRomColumns(romColumnsIn('row')))}`

const FILE_COLUMNS = sql`f.id, f.rom_id, f.file_name, f.file_path, f.file_size_bytes::float8 as file_size_bytes,
  f.is_top_level, f.category, f.crc_hash, f.md5_hash, f.sha1_hash, f.ra_hash, f.chd_sha1_hash, f.archive_members, f.track_meta,
  ${selectMilliseconds('f.created_at')} as created_at, ${selectMilliseconds('f.updated_at')} as updated_at,
  ${selectMilliseconds('f.last_modified')} as last_modified`

/** ROMs `r` with the marks `u` of one user; no marks if the user is null. */
export const markedRoms = (userId: number | null): RawBuilder<unknown> =>
  sql`roms r left join rom_users u on u.rom_id = r.id and u.user_id = ${userId ?? -1}`

/** ROMs `r` with the marks `u` of one user and their platforms `p`. */
export const romTables = (userId: number | null): RawBuilder<unknown> =>
  sql`${markedRoms(userId)} join platforms p on p.id = r.platform_id`

/** Ids that are tried at once, each a look at an index. */
const SAMPLE = 200

/**
 * Picks one of the ROMs that meet a condition, each with the same probability, by trying random ids. Null if no tried
 * ROM meets it, as happens if few of all ROMs do.
 */
export async function pickId (db: Db, userId: number | null, condition: Condition): Promise<number | null> {
  const { rows } = await sql<{ id: number }>`
    with bounds as (select min(id) as low, max(id) as high from roms),
    tried as materialized (
      select distinct low + floor(random() * (high - low + 1))::int as id from bounds, generate_series(1, ${SAMPLE}))
    select r.id from ${markedRoms(userId)} where r.id in (select id from tried) and ${condition}
    order by random() limit 1`.execute(db)
  return rows[0]?.id ?? null
}

/** A ROM with the caller's own data. */
export interface CallerRomRow {
  id: number
  /** Version of the rows that form `rom`, whose files count if requested; differs as soon as any of them changes. */
  stamp: string
  /** Null if the stamp equals the known one, or no ROM was requested. */
  rom: RomRow | null
  created_at: number
  updated_at: number
  marks: MarksRow | null
  siblings: SiblingRow[]
  /** Empty unless requested. */
  collections: MembershipRow[]
  /** The change counters of the library and of the caller; empty unless collections were requested. */
  versions: VersionRow[]
  has_notes: boolean
  /** True if the ROM has any save, state or screenshot, visible to the caller or not. */
  has_assets: boolean
}

export interface RomSelection {
  files: boolean
  /** Siblings are ROMs that one of these providers considers the same game; null selects none. */
  siblings_by: readonly string[] | null
  collections?: boolean
  /** The stamps of ROMs that are cached, by id; null reads no ROM. */
  knownStamps?: Readonly<Record<number, string>> | null
}

const MATCHES = sql`select m.provider, m.provider_id, m.match -> 'metadata' as metadata from rom_matches m where m.rom_id = i.id`
const FILES = sql`select ${FILE_COLUMNS} from rom_files f where f.rom_id = i.id order by f.file_name, f.file_path`

const FILE_VERSIONS = sql`(select array_agg(f.xmin) from rom_files f where f.rom_id = r.id)`

/**
 * Returns the stamp of a ROM `r`. Every change of a row changes its `xmin`, the number of the transaction that wrote
 * this version: https://www.postgresql.org/docs/18/ddl-system-columns.html
 *
 * @param files false for ROMs without files, because reading the rows of files costs two blocks for each ROM of a page
 */
const stampOf = (files: boolean) => sql`concat_ws(' ', r.xmin, p.xmin, (select d.xmin from rom_dumps d where d.rom_id = r.id),
  (select array_agg(m.xmin) from rom_matches m where m.rom_id = r.id), ${files ? FILE_VERSIONS : sql`null`})`

/** Selects other ROMs of the same platform that one of the providers considers the same game. */
const siblingsBy = (keys: readonly string[], caller: AnyCaller) => sql`
  select distinct r.id, r.name, r.fs_name_no_tags, r.fs_name_no_ext, coalesce(u.is_main_sibling, false) as is_main_sibling
  from rom_matches a
  join rom_matches b on b.provider = a.provider and b.provider_id = a.provider_id and b.rom_id <> a.rom_id
  join roms r on r.id = b.rom_id and r.platform_id = i.platform_id
  left join rom_users u on u.rom_id = r.id and u.user_id = ${caller?.id ?? -1}
  where a.rom_id = i.id and a.provider = any(${keys}::text[]) and ${isRomVisible(caller)}`

const listOf = (rows: RawBuilder<unknown> | null) => rows === null
  ? sql`'[]'::json`
  : sql`(select coalesce(json_agg(x), '[]') from (${rows}) x)`

/** Selects a complete ROM `r`, unless its stamp equals the known one. */
const selectRomJson = (files: boolean, knownStamps: unknown) => sql`
  case when s.stamp is distinct from (${knownStamps}::jsonb ->> r.id::text) then (select to_json(whole) from (
    select ${ROM_ROW}, ${listOf(MATCHES)} as matches, ${listOf(files ? FILES : null)} as files) whole) end`

type RomParts = Omit<RomSelection, 'knownStamps'>

const stampsOf = ({ knownStamps = {} }: RomSelection) => knownStamps === null ? null : JSON.stringify(knownStamps)

/**
 * `offset 0` stops the database from computing the stamp at each of its uses.
 *
 * @param knownStamps the value whose text is JSON of the known stamps; null reads no ROM
 */
const selectCallerRoms = (
  caller: AnyCaller, condition: Condition, { files, siblings_by: keys, collections = false }: RomParts,
  knownStamps: unknown
) => sql<CallerRomRow>`
    select i.id, s.stamp, ${selectMilliseconds('r.created_at')} as created_at, ${selectMilliseconds('r.updated_at')} as updated_at,
      ${knownStamps === null ? sql`null` : selectRomJson(files, knownStamps)} as rom,
      case when u.id is not null then to_json((select marks from (select ${MARK_COLUMNS}) marks)) end as marks,
      ${listOf(keys && siblingsBy(keys, caller))} as siblings, ${listOf(collections ? selectMembershipsOf(caller) : null)} as collections,
      ${listOf(collections ? versionsOf(caller?.id ?? null) : null)} as versions,
      exists (select 1 from notes n where n.rom_id = r.id and ${isReadable(caller?.id ?? null)}) as has_notes,
      exists (select 1 from assets where rom_id = i.id) as has_assets
    from ${romTables(caller?.id ?? null)} cross join lateral (select r.id, r.platform_id) i
    cross join lateral (select ${stampOf(files)} as stamp offset 0) s
    where ${condition}`

/** Loads complete ROMs in one statement. */
export async function selectRoms (
  { db, caller }: Context<AnyCaller>, condition: Condition, selection: RomSelection
): Promise<CallerRomRow[]> {
  return (await selectCallerRoms(caller, condition, selection, stampsOf(selection)).execute(db)).rows
}

export type RomStatements = CompiledStatements<CallerRomRow, 'id' | 'stamps'>

/** Loads the ROM with an id if the caller sees it. */
export async function selectRom (
  { db, caller }: Context<AnyCaller>, id: number, selection: RomSelection, statements: RomStatements
): Promise<CallerRomRow[]> {
  const { files, siblings_by: keys, collections } = selection
  const stamps = stampsOf(selection)
  const key = `${callerKey(caller)} ${JSON.stringify([files, keys, collections, stamps === null])}`
  return statements.run(db, key, { id, stamps }, (placeholderOf) => {
    const condition = sql<boolean>`r.id = ${placeholderOf('id')} and ${isRomVisible(caller)}`
    return selectCallerRoms(caller, condition, selection, stamps === null ? null : placeholderOf('stamps'))
  })
}

/** Loads the first ROM that meets a condition, or none. */
export async function selectFirstRom (
  { db, caller }: Context<AnyCaller>, condition: Condition, selection: RomSelection
): Promise<CallerRomRow[]> {
  return (await sql<CallerRomRow>`${selectCallerRoms(caller, condition, selection, stampsOf(selection))} order by r.id limit 1`.execute(db)).rows
}

/** Loads a user's progress in these games, by provider and id. */
export async function selectProgress (
  db: Db, userId: number, providers: readonly string[], games: readonly Game[]
): Promise<ProgressRow[]> {
  const ids = games.map((game) => game.provider_id)
  if (ids.length === 0) return []
  const { rows } = await sql<ProgressRow>`
    select a.provider, e ->> 'id' as provider_id, e - 'id' as progress
    from provider_accounts a, jsonb_array_elements(a.progress) e
    where a.user_id = ${userId} and a.provider = any(${providers}::text[]) and e ->> 'id' = any(${ids}::text[])
    `.execute(db)
  return rows
}

/** Loads the files of all these ROMs at once, by name. */
export async function selectFiles (db: Db, romIds: readonly number[]): Promise<Map<number, FileRow[]>> {
  const { rows } = await sql<FileRow>`
    select ${FILE_COLUMNS} from rom_files f where f.rom_id = any(${romIds}::int[])
    order by f.file_name, f.file_path`.execute(db)
  return Map.groupBy(rows, (row) => row.rom_id)
}

/** Loads the file with an id; null if it does not exist or its ROM is not visible. */
export async function selectFile ({ db, caller }: Context<AnyCaller>, fileId: number): Promise<FileRow | null> {
  const { rows } = await sql<FileRow>`
    select ${FILE_COLUMNS} from ${romTables(caller?.id ?? null)} join rom_files f on f.rom_id = r.id
    where f.id = ${fileId} and ${isRomVisible(caller)}`.execute(db)
  return rows[0] ?? null
}
