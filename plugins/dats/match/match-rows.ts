import type { Db, Queryable } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'

/** A number that nothing else uses as key of an advisory lock. */
const LOCK = 7_364_123

/**
 * Waits until no comparison runs, and delays the next one until the transaction ends. A comparison that began before a
 * change of DATs would otherwise store its result after {@link MARK_CHANGED}.
 */
const COMPARISON_LOCK = `select pg_advisory_xact_lock(${LOCK})`

/** Has all ROMs of platforms compared again. */
const MARK_CHANGED = `update rom_dumps d set compared_at = '1970-01-01Z' from roms r join platforms p on p.id = r.platform_id
  where r.id = d.rom_id and p.slug = any($1::text[])`

/** True for a platform `p` with a DAT. */
const HAS_DAT = 'exists (select from dats t where p.slug = any(t.platform_slugs))'

/** Selects ROMs of platforms with a DAT that changed since their last comparison. */
const SELECT_CHANGED = `select r.id from platforms p join roms r on r.platform_id = p.id left join rom_dumps d on d.rom_id = r.id
  where ${HAS_DAT} and d.compared_at is distinct from r.updated_at and r.id > $1
  order by r.id limit $2`

/** Deletes results of platforms whose last DAT is gone. */
const DELETE_UNUSED = `delete from rom_dumps d using roms r join platforms p on p.id = r.platform_id
  where r.id = d.rom_id and not ${HAS_DAT}`

/** The part of a name after its last dot. No regular expression without regard to case, because those are slow. */
const lastPart = (name: string) => `lower(substring(${name} from '[^.]*$'))`
const ARCHIVES = "'zip', '7z', 'rar', 'tar', 'tgz', 'tbz2', 'txz'"
const COMPRESSED = "'gz', 'bz2', 'xz'"

/**
 * The contents of ROMs: their files, and the members of archives in place of the archives. A compressed file has the
 * hashes of its content, whose size is not stored.
 */
const ITEMS = `items as materialized (
    select r.id as rom_id, r.platform_id, f.id as file_id, m.n as member, regexp_replace(coalesce(m.name, f.file_name), '^.*/', '') as name,
      m.n is not null as is_member,
      case when m.n is not null then m.size when ${lastPart('f.file_name')} in (${ARCHIVES}, ${COMPRESSED}) then null
        else f.file_size_bytes end as size,
      coalesce(m.crc_hash, f.crc_hash) as crc_hash, coalesce(m.md5_hash, f.md5_hash) as md5_hash,
      coalesce(m.sha1_hash, f.sha1_hash) as sha1_hash, f.ra_hash, f.chd_sha1_hash
    from roms r join rom_files f on f.rom_id = r.id
    left join lateral (select * from rows from (jsonb_to_recordset(f.archive_members)
      as (name text, size bigint, crc_hash text, md5_hash text, sha1_hash text)) with ordinality
      as members (name, size, crc_hash, md5_hash, sha1_hash, n)) m on true
    where r.id = any($1::int[]) and f.category is distinct from 'soundtrack')`

/**
 * Files of DATs with the hash of an item: by SHA-1, by MD5 if the DAT has no SHA-1, else by CRC-32 and size. The hash
 * of RetroAchievements is the MD5 of a cartridge without its header, in the byte order of most DATs. The lateral join
 * looks up each hash by an index; otherwise the database would read all files of all DATs for each batch.
 */
const hit = (on: string, isExact: boolean) => `select i.rom_id, i.platform_id, i.file_id, i.member, ${isExact} as is_exact,
    d.dat_id, d.game, d.position, d.status, d.is_needed, d.is_disk, d.name, d.file_size_bytes
    from items i cross join lateral (select * from dat_files d where ${on} offset 0) d`
const HITS = `found as (
    ${hit("d.sha1_hash = i.sha1_hash and d.sha1_hash <> '' and not d.is_disk", true)}
    union all ${hit("d.md5_hash = i.md5_hash and d.md5_hash <> '' and d.sha1_hash = ''", true)}
    union all ${hit(`d.crc_hash = i.crc_hash and d.crc_hash <> '' and d.sha1_hash = '' and d.md5_hash = ''
      and d.file_size_bytes = i.size`, true)}
    union all ${hit("d.md5_hash = i.ra_hash and d.md5_hash <> '' and i.md5_hash <> i.ra_hash", false)}
    union all ${hit("d.sha1_hash = i.chd_sha1_hash and d.sha1_hash <> '' and d.is_disk", true)}
  ), hits as materialized (
    select h.* from found h
    join dats t on t.id = h.dat_id join platforms p on p.id = h.platform_id and p.slug = any(t.platform_slugs)
    where h.file_size_bytes is distinct from 0 and h.status <> 'nodump')`

/** True for a name that every system allows: one part, not hidden, not reserved. The rename checks the name again. */
const SAFE = `name !~ '[/\\\\<>:"|?*]|^[.]|[. ]$' and octet_length(name) <= 200
      and lower(name) !~ '^(con|prn|aux|nul|com[0-9]|lpt[0-9])([.]|$)'`

/**
 * The games that a ROM has files of. `expected` is the name of the ROM by the DAT: of the game for a folder and an
 * archive, else of the file. A ROM that holds several games has none.
 */
const GAMES = `games as (
    select h.rom_id, h.dat_id, h.game, count(distinct h.position) filter (where h.is_needed) as matched,
      count(distinct (h.file_id, h.member)) as items, bool_or(h.status = 'baddump') as is_bad, bool_and(h.is_exact) as is_exact,
      bool_and(h.is_disk) as is_disk, min(h.name) as file_name
    from hits h group by h.rom_id, h.dat_id, h.game
  ), totals as (
    select h.rom_id, h.dat_id, count(distinct (h.file_id, h.member)) as items from hits h group by h.rom_id, h.dat_id
  ), named as (
    select s.*, g.clone_of, r.fs_name, g.needed > 0 and (s.matched >= g.needed or s.is_disk) as is_complete,
      s.items = t.items as is_whole, case
        when r.is_folder then g.name
        when k.kind in (${ARCHIVES}) then g.name || right(r.fs_name, length(k.kind) + 1)
        when k.kind in (${COMPRESSED}) and lower(r.fs_extension) like '%tar.' || k.kind
          then g.name || right(r.fs_name, length(k.kind) + 5)
        when k.kind in (${COMPRESSED}) then s.file_name || right(r.fs_name, length(k.kind) + 1)
        when k.kind = 'chd' then s.file_name || '.' || r.fs_extension
        when s.is_exact then s.file_name
        when r.fs_extension = '' then regexp_replace(s.file_name, '\\.[^.]*$', '')
        else regexp_replace(s.file_name, '\\.[^.]*$', '') || '.' || r.fs_extension end as name
    from games s join dat_games g on g.dat_id = s.dat_id and g.position = s.game
    join totals t on t.rom_id = s.rom_id and t.dat_id = s.dat_id join roms r on r.id = s.rom_id
    cross join lateral (select ${lastPart('r.fs_extension')} as kind) k)`

/** The best game comes first: complete, of this name, with most files, no clone. */
const RANKED = `ranked as (
    select *, case when is_complete and is_whole and ${SAFE} then name end as expected,
      row_number() over (partition by rom_id, dat_id
        order by is_complete desc, is_bad, name = fs_name desc, items desc, clone_of is null desc, game) = 1 as is_best
    from named)`

const INSERT_MATCHES = `with ${ITEMS}, ${HITS}, ${GAMES}, ${RANKED}
  insert into dat_matches (dat_id, game, rom_id, is_complete, is_bad, is_best, expected_name)
  select dat_id, game, rom_id, is_complete, is_bad, is_best, expected from ranked`

/**
 * ROMs with a file that has the name of a file of a DAT, in the game of this name, and other content. The index over
 * names is used only for a name of the same collation.
 */
const OTHERS = `others as (
    select distinct c.rom_id from (
      select r.id as rom_id, p.slug, (case when r.is_folder then r.fs_name else r.fs_name_no_ext end) collate "default" as game
      from roms r join platforms p on p.id = r.platform_id
      where r.id = any($1::int[]) and not exists (select from dat_matches m where m.rom_id = r.id and m.is_best)
    ) c join dats t on c.slug = any(t.platform_slugs)
    cross join lateral (select g.position from dat_games g where g.dat_id = t.id and g.name = c.game offset 0) g
    cross join lateral (
      select d.name from dat_files d where d.dat_id = t.id and d.game = g.position and d.is_needed offset 0) d
    join items i on i.rom_id = c.rom_id and i.name = d.name and (i.sha1_hash <> '' or i.md5_hash <> ''))`

const UPSERT_STATUS = `with ${ITEMS}, ${OTHERS}, best as (
    select m.rom_id, bool_or(m.is_complete and not m.is_bad) as is_good,
      bool_or(m.is_complete and not m.is_bad and (m.expected_name is null or m.expected_name = r.fs_name)) as is_named
    from dat_matches m join roms r on r.id = m.rom_id where m.rom_id = any($1::int[]) and m.is_best group by m.rom_id)
  insert into rom_dumps as d (rom_id, status, compared_at)
  select r.id, case when b.is_named then 'verified' when b.is_good then 'misnamed' when b.rom_id is not null or o.rom_id is not null then 'bad'
      else 'unknown' end, r.updated_at
  from roms r left join best b on b.rom_id = r.id left join others o on o.rom_id = r.id where r.id = any($1::int[])
  order by r.id
  on conflict (rom_id) do update set status = excluded.status, compared_at = excluded.compared_at`

/**
 * Deletes the matches of a DAT that changed, and has the ROMs of platforms compared again. The last step before the
 * commit, because comparisons wait for the rest of the transaction.
 */
export async function dropResults (tx: Queryable, datId: number, slugs: readonly string[]): Promise<void> {
  await tx.query(COMPARISON_LOCK)
  await tx.query('delete from dat_matches where dat_id = $1', [datId])
  await tx.query(MARK_CHANGED, [slugs])
}

/** True if there is a DAT. */
export async function hasDats (db: Db): Promise<boolean> {
  return (await db.query('select 1 from dats limit 1')).rowCount !== 0
}

/** Loads the next ids of ROMs that changed, or whose DATs changed, since they were compared. */
export async function selectChanged (db: Db, after: number, limit: number): Promise<number[]> {
  return (await db.query<{ id: number }>(SELECT_CHANGED, [after, limit])).rows.map(({ id }) => id)
}

export async function deleteUnusedDumps (db: Db): Promise<void> {
  await db.query(DELETE_UNUSED)
}

/** Compares ROMs with the DATs of their platforms, and stores the games and the status of each. */
export async function compareRoms (db: Db, ids: readonly number[]): Promise<void> {
  await inTransaction(db, async (tx) => {
    await tx.query(COMPARISON_LOCK)
    await tx.query('delete from dat_matches where rom_id = any($1::int[])', [ids])
    await tx.query(INSERT_MATCHES, [ids])
    await tx.query(UPSERT_STATUS, [ids])
  })
}
