import { basename, relative } from 'node:path'
import pg from 'pg'
import { createHasher } from '../../plugins/hashing/hasher.ts'
import { type ListedFile, listFiles } from './list-files.ts'
import { type Timing, answer, time } from './process.ts'

export interface MinimalScanInput { dir: string, databaseUrl: string }
/** Times of a first scan, and of one without changes. */
export interface MinimalScans { first: Timing, again: Timing }

const BATCH = 500
/** Copies of the server's tables with indexes, without triggers and foreign keys. */
const TABLES = `create table minimal_roms (like roms including all);
  create table minimal_files (like rom_files including all);
  create table minimal_names (like rom_names including all);
  create table minimal_values (like rom_values including all)`
const INSERT_ROMS = `insert into minimal_roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext, name, name_sort_key,
    fs_size_bytes, crc_hash, md5_hash, sha1_hash)
  select 1, path, path, name, name, name, lower(name), bytes, crc_hash, md5_hash, sha1_hash
  from unnest($1::text[], $2::text[], $3::bigint[], $4::float8[], $5::text[], $6::text[], $7::text[])
    as file(path, name, bytes, mtime, crc_hash, md5_hash, sha1_hash) returning id`
const INSERT_FILES = `insert into minimal_files (rom_id, file_path, file_name, file_size_bytes, last_modified, crc_hash, md5_hash, sha1_hash)
  select rom_id, path, name, bytes, to_timestamp(mtime / 1000), crc_hash, md5_hash, sha1_hash
  from unnest($8::int[], $1::text[], $2::text[], $3::bigint[], $4::float8[], $5::text[], $6::text[], $7::text[])
    as file(rom_id, path, name, bytes, mtime, crc_hash, md5_hash, sha1_hash)`
const INSERT_NAMES = `insert into minimal_names (rom_id, searched)
  select rom_id, name || ' ' || name from unnest($1::int[], $2::text[]) as file(rom_id, name)`
const INSERT_VALUES = `insert into minimal_values (rom_id, hashes)
  select id, array[hashtextextended('player_count:1', 0), hashtextextended('platform_id:1', 0)] from unnest($1::int[]) id`
const SELECT_FILES = `select file_path, file_size_bytes::float8 as bytes, extract(epoch from last_modified)::float8 * 1000 as mtime
  from minimal_files`

type Hashes = Awaited<ReturnType<ReturnType<typeof createHasher>['hashFile']>>
interface Known { file_path: string, bytes: number, mtime: number }

async function scan (dir: string, client: pg.Client): Promise<void> {
  const hasher = createHasher({ folders: [dir] })
  const files = listFiles(dir)
  let storing: Promise<unknown> = Promise.resolve()
  async function store (batch: readonly ListedFile[], hashes: readonly Hashes[]): Promise<void> {
    const names = batch.map(({ path }) => basename(path))
    const values = [
      batch.map(({ path }) => relative(dir, path)), names,
      batch.map(({ bytes }) => bytes), batch.map(({ mtime }) => mtime), hashes.map((hash) => hash.crc_hash),
      hashes.map((hash) => hash.md5_hash), hashes.map((hash) => hash.sha1_hash)
    ]
    await client.query('begin')
    const { rows } = await client.query<{ id: number }>(INSERT_ROMS, values)
    const ids = rows.map(({ id }) => id)
    await client.query(INSERT_NAMES, [ids, names])
    await client.query(INSERT_VALUES, [ids])
    await client.query(INSERT_FILES, [...values, ids])
    await client.query('commit')
  }
  for (let start = 0; start < files.length; start += BATCH) {
    const batch = files.slice(start, start + BATCH)
    const hashes = await Promise.all(batch.map(({ path }) => hasher.hashFile(path)))
    await storing
    storing = store(batch, hashes)
  }
  await storing
}

async function scanAgain (dir: string, client: pg.Client): Promise<void> {
  const { rows } = await client.query<Known>(SELECT_FILES)
  const known = new Map(rows.map((row) => [row.file_path, row]))
  const changed = listFiles(dir).filter(({ path, bytes, mtime }) => {
    const row = known.get(relative(dir, path))
    // PostgreSQL rounds to microseconds.
    return row?.bytes !== bytes || Math.abs(row.mtime - mtime) > 1
  })
  if (changed.length > 0) throw new Error(`${changed.length} files are not as they were stored, such as ${changed[0]?.path}`)
}

/**
 * The minimal scan that stores the same rows. First it walks, hashes, and inserts in batches into tables with the
 * server's columns and indexes; then it walks, reads and compares. It knows no names, folders, platforms, changes or
 * events. The additional time of the real scan is their cost.
 */
answer<MinimalScanInput, MinimalScans>(async ({ dir, databaseUrl }) => {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(TABLES)
  const first = await time(() => scan(dir, client))
  const again = await time(() => scanAgain(dir, client))
  await client.query('drop table minimal_values, minimal_names, minimal_files, minimal_roms')
  await client.end()
  return { first, again }
})
