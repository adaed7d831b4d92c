import type pg from 'pg'
import { toDatabaseJson } from '../../../core/database/json.ts'
import type { Rom } from '../entities.ts'

/** What a file that has no row is recognised by. */
export type Returning = Pick<Rom, 'fs_name' | 'fs_size_bytes' | 'sha1_hash'>

/**
 * By its place, else by its content when one ROM alone had that; all empty files are alike. Each id goes to one file,
 * and each file gets one.
 */
const CLAIM = `with found as (
    select * from jsonb_to_recordset($2::jsonb) as f(fs_name text, fs_size_bytes bigint, sha1_hash text)
  ), pairs as (
    select f.fs_name, former.id, true as is_in_place
    from found f join former_roms former on former.platform_id = $1 and former.fs_name = f.fs_name
      and former.library_id = $3
    union all select f.fs_name, min(former.id), false
    from found f join former_roms former on former.sha1_hash = f.sha1_hash and former.fs_size_bytes = f.fs_size_bytes
    where f.sha1_hash <> '' and f.fs_size_bytes > 0 group by f.fs_name having count(*) = 1
  ), by_name as (
    select distinct on (fs_name) * from pairs order by fs_name, is_in_place desc, id desc
  ), chosen as (
    select distinct on (id) fs_name, id from by_name order by id, is_in_place desc, fs_name
  )
  delete from former_roms former using chosen where former.id = chosen.id returning chosen.fs_name, former.id`

/**
 * The ids that files had before their rows were deleted, by name: with its id a ROM gets back who may not see it, its
 * marks, its play time and whatever else refers to it. Each id is given out once, by the transaction that uses it.
 *
 * @param place the platform, and the library, where the files lie now
 */
export async function claimFormerIds (
  client: pg.ClientBase, place: { id: number, library_id: number }, files: readonly Returning[]
): Promise<Map<string, number>> {
  const wanted = files.map(({ fs_name: name, fs_size_bytes: size, sha1_hash: sha1 }) =>
    ({ fs_name: name, fs_size_bytes: size, sha1_hash: sha1 }))
  const { rows } = await client.query<{ fs_name: string, id: number }>(
    CLAIM, [place.id, toDatabaseJson(wanted), place.library_id])
  return new Map(rows.map((row) => [row.fs_name, row.id]))
}
