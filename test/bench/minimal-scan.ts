import pg from 'pg'
import { createHasher } from '../../plugins/scans/hashing/hasher.ts'
import { listFiles } from './list-files.ts'
import { type Timing, answer, time } from './process.ts'

export interface MinimalScanInput { dir: string, databaseUrl: string }

const BATCH = 500
const INSERT = `insert into minimal_scan (path, bytes, mtime, crc_hash, md5_hash, sha1_hash)
  select * from unnest($1::text[], $2::bigint[], $3::float8[], $4::text[], $5::text[], $6::text[])`

async function scan (dir: string, client: pg.Client): Promise<void> {
  const hasher = createHasher()
  const files = listFiles(dir)
  let storing: Promise<unknown> = Promise.resolve()
  for (let start = 0; start < files.length; start += BATCH) {
    const batch = files.slice(start, start + BATCH)
    const hashes = await Promise.all(batch.map(({ path }) => hasher.hashFile(path)))
    await storing
    storing = client.query(INSERT, [
      batch.map(({ path }) => path), batch.map(({ bytes }) => bytes), batch.map(({ mtime }) => mtime),
      hashes.map((hash) => hash.crc_hash), hashes.map((hash) => hash.md5_hash), hashes.map((hash) => hash.sha1_hash)
    ])
  }
  await storing
}

/**
 * The least a first scan can be: walk, hash, insert in batches into one bare table. It knows no ROMs, names, folders,
 * changes or events; what the real scan takes beyond it is the price of those.
 */
answer<MinimalScanInput, Timing>(async ({ dir, databaseUrl }) => {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`create table minimal_scan (id serial primary key, path text unique, bytes bigint, mtime float8,
    crc_hash text, md5_hash text, sha1_hash text)`)
  const timing = await time(() => scan(dir, client))
  await client.query('drop table minimal_scan')
  await client.end()
  return timing
})
