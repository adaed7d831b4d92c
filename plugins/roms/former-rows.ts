import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import type { FormerLocks, Rom } from './entities.ts'
import { MANUAL_FIELDS, type ManualField } from './game-fields.ts'
import { ARTWORK_PATHS, LOCKABLE_COLUMNS, type LockableColumn, type RomColumnName } from './rom-columns.ts'

/** The values that identify a returning file without a row. */
export type ReturningFile = Pick<Rom, 'fs_name' | 'fs_size_bytes' | 'sha1_hash'>

/**
 * Matches files by path, else by content if exactly one former ROM had that content. Skips empty files, because all are
 * alike. Each id goes to one file, and each file gets one id.
 */
const CLAIM = `with found as (
    select * from json_to_recordset($2::json) as f(fs_name text, fs_size_bytes bigint, sha1_hash text)
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
  delete from former_roms former using chosen where former.id = chosen.id returning chosen.fs_name, former.id, former.locks,
    former.platform_id as former_platform_id, former.fs_name as former_name`

/** The id of a file before its row was deleted, and its field locks. */
export interface FormerRom { id: number, locks: FormerLocks | null }

/** A former ROM with the platform and name that it had. */
export interface ReturningRom extends FormerRom { former_platform_id: number, former_name: string }

/**
 * Deletes and returns the former ids of files, by file name. With its id a ROM regains its hide rules, marks, play time
 * and everything else that refers to the id. Each id is returned once. The transaction that uses it then calls
 * `applyLocks` and `reattachUploadsOfReturning`.
 *
 * @param platform the platform and library that contain the files now
 */
export async function claimFormerIds (
  tx: Db, platform: { id: number, library_id: number }, files: readonly ReturningFile[]
): Promise<Map<string, ReturningRom>> {
  const identities = files.map(({ fs_name: name, fs_size_bytes: size, sha1_hash: sha1 }) =>
    ({ fs_name: name, fs_size_bytes: size, sha1_hash: sha1 }))
  const { rows } = await tx.query<ReturningRom & { fs_name: string }>(
    CLAIM, [platform.id, toDatabaseJson(identities), platform.library_id])
  return new Map(rows.map(({ fs_name: name, ...former }) => [name, former]))
}

/** Restores a locked column. */
const locked = (lock: LockableColumn, column: RomColumnName, condition = 'true') =>
  `${column} = case when k.own_fields && '{${lock}}' and ${condition} then k.${column} else r.${column} end`

/** Restores the paths of artwork, each of which is locked together with its URL. */
const LOCKED_PATHS = ARTWORK_PATHS.flatMap(({ name, url }) => LOCKABLE_COLUMNS.filter((lock) => lock === url)
  .map((lock) => locked(lock, name, 'k.has_artwork')))

/** Restores a field of `manual_metadata`, whose value is also in the column of the same name. */
const manual = (name: ManualField) => `${name} = case
    when coalesce(k.manual_metadata -> '${name}', 'null') in ('null', '""', '[]') then r.${name}
    else (jsonb_populate_record(null::roms, k.manual_metadata)).${name} end`

/**
 * Stored artwork outlives the row only while the ROM is in the trash. A lock on a deleted picture is dropped, because
 * it would stop providers from giving one.
 */
const APPLY = `with former as (
    select k.*, exists (select 1 from trash_items t where t.kind = 'rom' and t.rom_id = k.id and t.platform_id = k.platform_id)
      as has_artwork
    from unnest($1::jsonb[]) as l cross join lateral jsonb_populate_record(null::roms, l -> 'rom') k
  )
  update roms r set edits = k.edits + 1, manual_metadata = nullif(k.manual_metadata, 'null'::jsonb), updated_at = now(),
    own_fields = array(select name from unnest(k.own_fields) as name where k.has_artwork
      or not (name = 'url_cover' and k.url_cover is null and k.path_cover_large is not null)
        and not (name = 'url_manual' and k.url_manual is null and k.path_manual is not null)),
    ${[...LOCKABLE_COLUMNS.map((name) => locked(name, name)), ...LOCKED_PATHS, ...MANUAL_FIELDS.map(manual)].join(', ')}
  from former k where r.id = k.id`

const ADD_MATCHES = `insert into rom_matches (rom_id, provider, provider_id, match, explanation)
  select m.rom_id, m.provider, m.provider_id, m.match, m.explanation from unnest($1::jsonb[]) as l
    cross join lateral jsonb_populate_recordset(null::rom_matches, l -> 'matches') m join roms r on r.id = m.rom_id
  on conflict (rom_id, provider) do update set provider_id = excluded.provider_id, match = excluded.match,
    explanation = excluded.explanation, updated_at = now()`

/** Restores the field locks of returning rows, in the transaction that added the rows. */
export async function applyLocks (tx: Db, former: Iterable<Pick<FormerRom, 'locks'>>): Promise<void> {
  const locks = [...former].flatMap((one) => one.locks === null ? [] : [toDatabaseJson(one.locks)])
  if (locks.length === 0) return
  await tx.query(APPLY, [locks])
  await tx.query(ADD_MATCHES, [locks])
}

/** Deletes and returns the field locks of a ROM whose rows are restored by other means. */
export async function deleteFormer (tx: Db, id: number): Promise<FormerRom | null> {
  const { rows } = await tx.query<FormerRom>('delete from former_roms where id = $1 returning id, locks', [id])
  return rows[0] ?? null
}
