import type { Db } from '../../core/database/db.ts'
import { createInsert } from '../../core/database/insert-rows.ts'
import { toDatabaseJson } from '../../core/database/json.ts'

/** A file of another server's library. Hashes are null if they are unknown. */
export interface ForeignRom {
  platform_id: number | null
  fs_name: string
  size: number | null
  sha1: string | null
  md5: string | null
  crc: string | null
}

const SAME_CONTENT = ['sha1', 'md5', 'crc'].map((hash) => `select g.place, r.id, '${hash}' as by, r.platform_id = g.platform_id as is_near
    from open g join roms r on r.${hash}_hash = g.${hash} and r.fs_size_bytes = g.size
    where g.${hash} <> '' and g.size > 0`).join(' union all ')

/**
 * Finds ROMs by platform and file name, then by content. Content finds a ROM only if exactly one has it, in the same
 * platform or else anywhere, and only a ROM that no file of the list is named after.
 */
const PAIR = `with given as (
    select g.place::int, o.* from jsonb_array_elements($1::jsonb) with ordinality as g (value, place)
      cross join lateral jsonb_to_record(g.value) as o(platform_id int, fs_name text, size bigint, sha1 text, md5 text, crc text)
  ), named as (
    select distinct on (g.place) g.place, r.id from given g join roms r on r.platform_id = g.platform_id and r.fs_name = g.fs_name
    order by g.place, r.library_id
  ), open as (
    select * from given g where not exists (select 1 from named n where n.place = g.place)
  ), same as (${SAME_CONTENT}
  ), counted as (
    select place, by, is_near, min(id) as id from same group by place, by, is_near having count(*) = 1
  ), chosen as (
    select distinct on (place) place, id from counted c where id not in (select id from named)
    order by place, is_near desc, array_position('{sha1,md5,crc}', by)
  )
  select place, id from named union all select place, id from chosen`

/** Finds the ROMs of this server that other files are. @returns an id for each file, null for none */
export async function pairRoms (db: Db, files: readonly ForeignRom[]): Promise<(number | null)[]> {
  const { rows } = await db.query<{ place: number, id: number }>(PAIR, [toDatabaseJson(files)])
  const ids = new Map(rows.map(({ place, id }) => [place, id]))
  return files.map((_file, index) => ids.get(index + 1) ?? null)
}

export const hasRoms = async (db: Db): Promise<boolean> =>
  (await db.query('select 1 from roms limit 1')).rows.length > 0

/** Reserves ids for files that a later scan finds, as if these ROMs had been deleted here. */
export async function reserveRoms (tx: Db, roms: readonly {
  id: number, library_id: number, platform_id: number, fs_name: string, fs_size_bytes: number, sha1_hash: string
}[]): Promise<void> {
  await tx.query(`insert into former_roms (id, library_id, platform_id, fs_name, fs_size_bytes, sha1_hash)
    select g.id, g.library_id, g.platform_id, g.fs_name, g.fs_size_bytes, g.sha1_hash from jsonb_to_recordset($1::jsonb)
      as g(id int, library_id int, platform_id int, fs_name text, fs_size_bytes bigint, sha1_hash text)
    where not exists (select 1 from roms r where r.id = g.id)
    on conflict do nothing`, [toDatabaseJson(roms)])
}

const MARKS = {
  name: 'rom_users',
  columns: {
    rom_id: 'int', user_id: 'int', last_played: 'timestamptz', is_main_sibling: 'boolean', backlogged: 'boolean',
    now_playing: 'boolean', hidden: 'boolean', rating: 'int', difficulty: 'int', completion: 'int', status: 'text',
    created_at: 'timestamptz', updated_at: 'timestamptz'
  }
} as const

/** Inserts marks of users. @returns null for each that this server has already */
export const insertImportedMarks = createInsert(MARKS)

/** Names of ROMs, under which the files of users are found again after a ROM was gone. */
export async function selectNamesOfRoms (
  db: Db, ids: readonly number[]
): Promise<Map<number, { fs_name: string, platform_fs_slug: string }>> {
  const { rows } = await db.query<{ id: number, fs_name: string, platform_fs_slug: string }>(`select r.id, r.fs_name,
      p.fs_slug as platform_fs_slug from roms r join platforms p on p.id = r.platform_id where r.id = any($1::int[])`, [ids])
  return new Map(rows.map(({ id, ...names }) => [id, names]))
}

/** Finds files of ROMs by their paths in the folder of the ROM. @returns an id for each, null for none */
export async function findFilesOfRoms (
  db: Db, files: readonly { rom_id: number, path: string }[]
): Promise<(number | null)[]> {
  const { rows } = await db.query<{ place: number, id: number }>(`select distinct on (g.place) g.place::int, f.id
    from unnest($1::int[], $2::text[]) with ordinality as g (rom_id, path, place)
      join rom_files f on f.rom_id = g.rom_id and right(f.file_path || '/' || f.file_name, length(g.path) + 1) = '/' || g.path
    order by g.place, length(f.file_path), f.id`, [files.map((file) => file.rom_id), files.map((file) => file.path)])
  const ids = new Map(rows.map(({ place, id }) => [place, id]))
  return files.map((_file, index) => ids.get(index + 1) ?? null)
}

/** The platform and the manual of a ROM. */
export interface RomPlace { platform_id: number, path_manual: string | null }

export async function selectPlaces (db: Db, ids: readonly number[]): Promise<Map<number, RomPlace>> {
  const { rows } = await db.query<RomPlace & { id: number }>('select id, platform_id, path_manual from roms where id = any($1::int[])', [ids])
  return new Map(rows.map(({ id, ...place }) => [id, place]))
}
