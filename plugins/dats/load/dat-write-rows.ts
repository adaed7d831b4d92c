import type pg from 'pg'
import { inClientTransaction } from '../../../core/database/client-transaction.ts'
import { deleteGames } from '../dat-rows.ts'
import { dropResults } from '../match/match-rows.ts'
import type { DatHeader } from '../parse/dat-types.ts'
import { copyRows } from './copy-rows.ts'

/** The stored version of a DAT. */
export interface FormerDat {
  id: number
  folder_path: string | null
  name: string
  version: string
  date: string
  platform_slugs: string[]
  is_platform_chosen: boolean
}

/** A DAT to store, without its games. */
export interface DatValues {
  key: string
  header: DatHeader
  folder_path: string | null
  platform_slugs: readonly string[]
  is_platform_chosen: boolean
}

/** A game to store, with its files. The names of the columns are those of the tables. */
export interface GameRow {
  position: number
  name: string
  clone_of: string | null
  needed: number
}
export interface FileRow {
  game: number
  position: number
  name: string
  file_size_bytes: number | null
  crc_hash: string
  md5_hash: string
  sha1_hash: string
  status: string
  merge: string | null
  is_disk: boolean
  is_needed: boolean
}

const GAME_COLUMNS = ['position', 'name', 'clone_of', 'needed'] as const
const FILE_COLUMNS = ['game', 'position', 'name', 'file_size_bytes', 'crc_hash', 'md5_hash', 'sha1_hash', 'status', 'merge',
  'is_disk', 'is_needed'] as const

const UPSERT_DAT = `insert into dats (key, name, description, version, date, author, folder_path, platform_slugs, is_platform_chosen)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (key) do update set name = excluded.name, description = excluded.description, version = excluded.version,
    date = excluded.date, author = excluded.author, folder_path = excluded.folder_path, platform_slugs = excluded.platform_slugs,
    is_platform_chosen = excluded.is_platform_chosen, updated_at = now()
  where (dats.folder_path is null) = (excluded.folder_path is null)
  returning id`

const SET_CLONES = `update dat_games g set clone_of = c.name from jsonb_to_recordset($2::jsonb) as c(position int, name text)
  where g.dat_id = $1 and g.position = c.position`

const SELECT_REPEATED = `select hash from (
    select sha1_hash as hash from dat_files where dat_id = $1 and sha1_hash <> ''
    union all select md5_hash from dat_files where dat_id = $1 and md5_hash <> ''
    union all select crc_hash from dat_files where dat_id = $1 and crc_hash <> '' and sha1_hash = '' and md5_hash = '') h
  group by hash having count(*) > $2 limit 1`

/** Runs work in one transaction on a connection of its own. */
export async function inOwnTransaction<T> (pool: pg.Pool, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let isReusable = false
  try {
    const result = await inClientTransaction(client, async () => {
      // The time between two statements includes the reading of a slow disk.
      await client.query('set local idle_in_transaction_session_timeout = 0')
      return await work(client)
    })
    isReusable = true
    return result
  } finally {
    // A connection on which a COPY broke off is not used again.
    client.release(!isReusable)
  }
}

/** Loads and locks the stored version of a DAT; null if there is none. A comparison may store matches meanwhile. */
export async function lockFormer (client: pg.ClientBase, key: string): Promise<FormerDat | null> {
  const { rows } = await client.query<FormerDat>(
    'select id, folder_path, name, version, date, platform_slugs, is_platform_chosen from dats where key = $1 for no key update', [key])
  return rows[0] ?? null
}

/**
 * Stores a DAT without games.
 *
 * @returns its id, which is that of the former version; null if another worker has just stored a version of another
 * origin
 */
export async function upsertDat (client: pg.ClientBase, dat: DatValues): Promise<number | null> {
  const { name, description, version, date, author } = dat.header
  const { rows: [row] } = await client.query<{ id: number }>(UPSERT_DAT, [
    dat.key, name, description, version, date, author, dat.folder_path, dat.platform_slugs, dat.is_platform_chosen
  ])
  if (row !== undefined) await deleteGames(client, row.id)
  return row?.id ?? null
}

/** Copies games and files of a DAT. */
export async function insertGames (
  client: pg.ClientBase, datId: number, games: readonly GameRow[], files: readonly FileRow[]
): Promise<void> {
  await copyRows(client, 'dat_games', ['dat_id', ...GAME_COLUMNS],
    games.map((game) => [datId, ...GAME_COLUMNS.map((column) => game[column])]))
  await copyRows(client, 'dat_files', ['dat_id', ...FILE_COLUMNS],
    files.map((file) => [datId, ...FILE_COLUMNS.map((column) => file[column])]))
}

/** Sets the parents of games, by position. */
export async function updateClones (
  client: pg.ClientBase, datId: number, clones: readonly { position: number, name: string }[]
): Promise<void> {
  if (clones.length > 0) await client.query(SET_CLONES, [datId, JSON.stringify(clones)])
}

/** Returns a hash that more files of a DAT have than allowed; null if there is none. */
export async function selectRepeatedHash (client: pg.ClientBase, datId: number, most: number): Promise<string | null> {
  const { rows } = await client.query<{ hash: string }>(SELECT_REPEATED, [datId, most])
  return rows[0]?.hash ?? null
}

/** Stores the counts of a DAT, and has the ROMs of platforms compared again. The last statements before the commit. */
export async function finishDat (
  client: pg.ClientBase, datId: number, { games, files }: { games: number, files: number }, slugs: readonly string[]
): Promise<void> {
  // The database has no statistics of new rows, and would read all files of all DATs to compare one ROM.
  await client.query('analyze dat_games, dat_files')
  await client.query('update dats set game_count = $2, file_count = $3 where id = $1', [datId, games, files])
  await dropResults(client, datId, slugs)
}
