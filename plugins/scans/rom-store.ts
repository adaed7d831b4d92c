import type { ArchiveMember, Match, ProviderId } from '@svc/plugin-sdk'
import type pg from 'pg'
import type { Rom } from '../roms/entities.ts'
import type { MergedFields } from './merge.ts'

/** What the scan has to know of every ROM row of a platform. */
export interface KnownRom {
  id: number
  fs_name: string
  missing_from_fs: boolean
  is_identified: boolean
  /** Keys of the providers that matched it. */
  providers: string[]
}

/** A file as it is stored; `last_modified` in milliseconds. */
export interface StoredFile {
  rom_id: number
  file_name: string
  file_path: string
  file_size_bytes: number
  last_modified: number
  inode: string
}

/** A row to write: everything that follows from the disk. */
export type RomRow = Pick<Rom, 'fs_name' | 'fs_path' | 'fs_extension' | 'fs_name_no_tags' | 'fs_name_no_ext' |
  'fs_size_bytes' | 'is_folder' | 'has_nested_single_file' | 'has_multiple_files' | 'has_soundtrack' | 'crc_hash' |
  'md5_hash' | 'sha1_hash' | 'regions' | 'languages' | 'tags'> & {
    /** The row to update; null to insert. */
    id: number | null
    revision: string | null
    version: string | null
    name_sort_key: string
    /** Whether what the file name says is written to a row that is there already. */
    writes_tags: boolean
  }

export interface FileRow {
  file_name: string
  file_path: string
  file_size_bytes: number
  last_modified: number
  inode: string
  is_top_level: boolean
  category: string | null
  crc_hash: string
  md5_hash: string
  sha1_hash: string
  chd_sha1_hash: string | null
  archive_members: ArchiveMember[] | null
}

export interface WrittenRom { id: number, fs_name: string, newFiles: number }

const ROM_COLUMNS = `id int, fs_name text, fs_path text, fs_extension text, fs_name_no_tags text, fs_name_no_ext text,
  fs_size_bytes bigint, is_folder boolean, has_nested_single_file boolean, has_multiple_files boolean,
  has_soundtrack boolean, crc_hash text, md5_hash text, sha1_hash text, regions text[], languages text[], tags text[],
  revision text, version text, name_sort_key text, writes_tags boolean`

const INSERT_ROMS = `insert into roms (platform_id, fs_name, fs_path, fs_extension, fs_name_no_tags, fs_name_no_ext,
    fs_size_bytes, is_folder, has_nested_single_file, has_multiple_files, has_soundtrack, crc_hash, md5_hash, sha1_hash,
    regions, languages, tags, revision, version, name, name_sort_key)
  select $1, fs_name, fs_path, fs_extension, fs_name_no_tags, fs_name_no_ext, fs_size_bytes, is_folder,
    has_nested_single_file, has_multiple_files, has_soundtrack, crc_hash, md5_hash, sha1_hash, regions, languages, tags,
    revision, version, fs_name_no_tags, name_sort_key
  from jsonb_to_recordset($2::jsonb) as r(${ROM_COLUMNS}) where id is null
  on conflict (platform_id, fs_name) do update set fs_size_bytes = excluded.fs_size_bytes, crc_hash = excluded.crc_hash,
    md5_hash = excluded.md5_hash, sha1_hash = excluded.sha1_hash, missing_from_fs = false, updated_at = now()
  returning id, fs_name`

const UPDATE_ROMS = `update roms set fs_name = r.fs_name, fs_path = r.fs_path, fs_extension = r.fs_extension,
    fs_name_no_tags = r.fs_name_no_tags, fs_name_no_ext = r.fs_name_no_ext, fs_size_bytes = r.fs_size_bytes,
    is_folder = r.is_folder, has_nested_single_file = r.has_nested_single_file,
    has_multiple_files = r.has_multiple_files, has_soundtrack = r.has_soundtrack, crc_hash = r.crc_hash,
    md5_hash = r.md5_hash, sha1_hash = r.sha1_hash, missing_from_fs = false, updated_at = now(),
    regions = case when r.writes_tags then r.regions else roms.regions end,
    languages = case when r.writes_tags then r.languages else roms.languages end,
    tags = case when r.writes_tags then r.tags else roms.tags end,
    revision = case when r.writes_tags then r.revision else roms.revision end,
    version = case when r.writes_tags then r.version else roms.version end
  from jsonb_to_recordset($1::jsonb) as r(${ROM_COLUMNS}) where roms.id = r.id returning roms.id, roms.fs_name`

const FILE_COLUMNS = `rom_id int, file_name text, file_path text, file_size_bytes bigint, last_modified double precision,
  inode text, is_top_level boolean, category text, crc_hash text, md5_hash text, sha1_hash text, chd_sha1_hash text,
  archive_members jsonb`

/** `xmax = 0` tells a row that was inserted from one that was updated. */
const UPSERT_FILES = `insert into rom_files (rom_id, file_name, file_path, file_size_bytes, last_modified, inode,
    is_top_level, category, crc_hash, md5_hash, sha1_hash, chd_sha1_hash, archive_members)
  select rom_id, file_name, file_path, file_size_bytes, to_timestamp(last_modified / 1000), inode, is_top_level, category,
    crc_hash, md5_hash, sha1_hash, chd_sha1_hash, nullif(archive_members, 'null'::jsonb)
  from jsonb_to_recordset($1::jsonb) as f(${FILE_COLUMNS})
  on conflict (rom_id, file_path, file_name) do update set file_size_bytes = excluded.file_size_bytes,
    last_modified = excluded.last_modified, inode = excluded.inode, is_top_level = excluded.is_top_level,
    category = excluded.category, crc_hash = excluded.crc_hash, md5_hash = excluded.md5_hash,
    sha1_hash = excluded.sha1_hash, chd_sha1_hash = excluded.chd_sha1_hash, archive_members = excluded.archive_members,
    updated_at = now()
  returning rom_id, xmax = 0 as is_new`

const DELETE_FILES = `delete from rom_files where rom_id = any($1::int[]) and not exists (
  select 1 from jsonb_to_recordset($2::jsonb) as f(rom_id int, file_path text, file_name text)
  where f.rom_id = rom_files.rom_id and f.file_path = rom_files.file_path and f.file_name = rom_files.file_name)`

const MERGED = ['name', 'name_sort_key', 'slug', 'summary', 'alternative_names', 'youtube_video_id', 'genres', 'franchises',
  'collections', 'companies', 'developers', 'publishers', 'game_modes', 'age_ratings', 'player_count',
  'first_release_date', 'average_rating', 'regions', 'languages', 'url_cover', 'url_screenshots', 'url_manual', 'media',
  'is_identified'] as const satisfies readonly (keyof MergedFields | 'is_identified')[]
const TEXT_LISTS = new Set<string>(['alternative_names', 'genres', 'franchises', 'collections', 'companies', 'developers',
  'publishers', 'game_modes', 'age_ratings', 'regions', 'languages', 'url_screenshots'])
const OTHER_TYPES: Record<string, string> = {
  first_release_date: 'bigint', average_rating: 'real', media: 'jsonb', is_identified: 'boolean'
}
const typeOf = (column: string) => TEXT_LISTS.has(column) ? 'text[]' : OTHER_TYPES[column] ?? 'text'

const UPDATE_MERGED = `update roms set ${MERGED.map((column) => `${column} = m.${column}`).join(', ')},
    path_cover_small = case when roms.url_cover is distinct from m.url_cover then null else path_cover_small end,
    path_cover_large = case when roms.url_cover is distinct from m.url_cover then null else path_cover_large end,
    path_screenshots = case when roms.url_screenshots is distinct from m.url_screenshots then '{}' else path_screenshots end,
    path_manual = case when roms.url_manual is distinct from m.url_manual then null else path_manual end,
    updated_at = now()
  from jsonb_to_recordset($1::jsonb) as m(id int, ${MERGED.map((column) => `${column} ${typeOf(column)}`).join(', ')})
  where roms.id = m.id`

/** One ROM's outcome of a lookup round. */
export interface MatchWrite {
  rom_id: number
  matches: ReadonlyMap<string, Match>
  /** Providers whose stored match is dropped. */
  dropped: readonly string[]
  merged: MergedFields & { is_identified: boolean }
}

const toJson = (rows: readonly unknown[]) => JSON.stringify(rows)

export function createRomStore (pool: pg.Pool) {
  async function transaction<T> (work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (err) {
      await client.query('rollback')
      throw err
    } finally {
      client.release()
    }
  }

  return {
    async listKnown (platformId: number): Promise<KnownRom[]> {
      const { rows } = await pool.query<KnownRom>(`select r.id, r.fs_name, r.missing_from_fs, r.is_identified,
          coalesce(array_agg(m.provider) filter (where m.provider is not null), '{}') as providers
        from roms r left join rom_matches m on m.rom_id = r.id where r.platform_id = $1 group by r.id`, [platformId])
      return rows
    },

    async listFiles (romIds: readonly number[]): Promise<Map<number, StoredFile[]>> {
      const { rows } = await pool.query<StoredFile>(`select rom_id, file_name, file_path,
          file_size_bytes::float8 as file_size_bytes, inode,
          round(extract(epoch from last_modified) * 1000)::float8 as last_modified
        from rom_files where rom_id = any($1::int[])`, [romIds])
      return Map.groupBy(rows, (file) => file.rom_id)
    },

    /** A missing row of this platform that is surely the same ROM, by all three hashes; null unless exactly one. */
    async findMoved (platformId: number, row: RomRow, missing: readonly number[]): Promise<number | null> {
      if (row.sha1_hash === '' || missing.length === 0) return null
      const { rows } = await pool.query<{ id: number }>(`select id from roms where platform_id = $1 and id = any($2::int[])
        and sha1_hash = $3 and md5_hash = $4 and crc_hash = $5 limit 2`,
      [platformId, missing, row.sha1_hash, row.md5_hash, row.crc_hash])
      return rows.length === 1 ? rows[0]?.id ?? null : null
    },

    /** Writes rows with their files in one transaction; files of theirs that are not named are deleted. */
    async write (platformId: number, roms: readonly { row: RomRow, files: readonly FileRow[] }[]): Promise<WrittenRom[]> {
      return await transaction(async (client) => {
        const rows = toJson(roms.map((rom) => rom.row))
        const inserted = roms.some(({ row }) => row.id === null)
          ? (await client.query<{ id: number, fs_name: string }>(INSERT_ROMS, [platformId, rows])).rows
          : []
        const updated = roms.some(({ row }) => row.id !== null)
          ? (await client.query<{ id: number, fs_name: string }>(UPDATE_ROMS, [rows])).rows
          : []
        const ids = new Map([...inserted, ...updated].map(({ id, fs_name: name }) => [name, id]))
        const files = toJson(roms.flatMap(({ row, files }) => files.map((file) => ({ ...file, rom_id: ids.get(row.fs_name) }))))
        const { rows: written } = await client.query<{ rom_id: number, is_new: boolean }>(UPSERT_FILES, [files])
        if (updated.length > 0) await client.query(DELETE_FILES, [updated.map(({ id }) => id), files])
        const counts = Map.groupBy(written.filter((file) => file.is_new), (file) => file.rom_id)
        return [...ids].map(([name, id]) => ({ id, fs_name: name, newFiles: counts.get(id)?.length ?? 0 }))
      })
    },

    async markMissing (ids: readonly number[], isMissing: boolean): Promise<void> {
      if (ids.length === 0) return
      await pool.query(`update roms set missing_from_fs = $2, updated_at = now()
        where id = any($1::int[]) and missing_from_fs <> $2`, [ids, isMissing])
    },

    /** The stored matches of some ROMs. */
    async listMatches (romIds: readonly number[]): Promise<Map<number, Map<string, Match>>> {
      const { rows } = await pool.query<{ rom_id: number, provider: string, match: Match }>(
        'select rom_id, provider, match from rom_matches where rom_id = any($1::int[])', [romIds])
      const byRom = new Map<number, Map<string, Match>>()
      for (const { rom_id: id, provider, match } of rows) {
        const matches = byRom.get(id) ?? new Map<string, Match>()
        byRom.set(id, matches.set(provider, match))
      }
      return byRom
    },

    /** Stores matches and what was merged from them, many ROMs in one transaction. */
    async writeMatches (writes: readonly MatchWrite[]): Promise<void> {
      await transaction(async (client) => {
        const dropped = writes.flatMap((write) => write.dropped.map((provider) => ({ rom_id: write.rom_id, provider })))
        if (dropped.length > 0) {
          await client.query(`delete from rom_matches m using jsonb_to_recordset($1::jsonb) as d(rom_id int, provider text)
            where m.rom_id = d.rom_id and m.provider = d.provider`, [toJson(dropped)])
        }
        const matches = writes.flatMap((write) => [...write.matches].map(([provider, match]) => ({
          rom_id: write.rom_id, provider, provider_id: String(match.id satisfies ProviderId), match
        })))
        if (matches.length > 0) {
          await client.query(`insert into rom_matches (rom_id, provider, provider_id, match)
            select * from jsonb_to_recordset($1::jsonb) as m(rom_id int, provider text, provider_id text, match jsonb)
            on conflict (rom_id, provider) do update set provider_id = excluded.provider_id, match = excluded.match,
              updated_at = now()`, [toJson(matches)])
        }
        await client.query(UPDATE_MERGED, [toJson(writes.map((write) => ({ id: write.rom_id, ...write.merged })))])
      })
    }
  }
}
export type RomStore = ReturnType<typeof createRomStore>
