import type pg from 'pg'
import { findPlatformSlugs } from '../platform-names.ts'
import { GAMES_MAX } from '../parse/dat-limits.ts'
import { DatError, type DatFile, type DatGame, type DatHeader } from '../parse/dat-types.ts'
import { datKey, isOlder, versionOf } from '../parse/dat-version.ts'
import type { OpenDat } from '../parse/read-dat.ts'
import { COMPARISON_LOCK, MARK_CHANGED } from '../match/match-rows.ts'
import { copyRows } from './copy-rows.ts'

/** The origin of a DAT. */
export interface DatOrigin {
  /** The name of the file, for a DAT that states no name. */
  fileName: string
  /** The path in the folder of DATs; null for an upload. */
  folderPath: string | null
  /** The platforms that an administrator chose; null if the name of the DAT decides. */
  platformSlugs: readonly string[] | null
}

export interface StoredDat { id: number, name: string, version: string, games: number, files: number }
/** A DAT that was not stored, because the stored version is newer. */
export interface OlderDat { name: string, version: string, storedVersion: string }

interface FormerDat {
  name: string
  version: string
  date: string
  platform_slugs: string[]
  is_platform_chosen: boolean
}

/** Files per statement. */
const COPIED_FILES = 20_000
const DELETED_GAMES = 20_000
/** The most files of one DAT with the same hash: each is compared with each file of the library that has this hash. */
const SAME_HASH_MAX = 10_000

const GAME_COLUMNS = ['dat_id', 'position', 'name', 'clone_of', 'needed']
const FILE_COLUMNS = ['dat_id', 'game', 'position', 'name', 'file_size_bytes', 'crc_hash', 'md5_hash', 'sha1_hash', 'status', 'merge', 'is_disk', 'is_needed']

/** TOSEC marks bad dumps in names: https://www.tosecdev.org/tosec-naming-convention */
const TOSEC_BAD = /\[b\d*(?: [^\]]*)?\]/

/** True if a file can be compared and is part of the set of its game, not of the parent's. */
function isComparable ({ status, merge, size, crc, md5, sha1 }: DatFile): boolean {
  return status !== 'nodump' && merge === null && size !== 0 && `${crc}${md5}${sha1}` !== ''
}

/** Tells which files a complete game has. Disks lie beside the archive of a game: they are needed only without one. */
function listNeeded (files: readonly DatFile[]): boolean[] {
  const hasRoms = files.some((file) => !file.is_disk && isComparable(file))
  return files.map((file) => isComparable(file) && !(file.is_disk && hasRoms))
}

const INSERT_DAT = `insert into dats (key, name, description, version, date, author, folder_path, platform_slugs, is_platform_chosen)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (key) do update set name = excluded.name, description = excluded.description, version = excluded.version,
    date = excluded.date, author = excluded.author, folder_path = excluded.folder_path, platform_slugs = excluded.platform_slugs,
    is_platform_chosen = excluded.is_platform_chosen, updated_at = now()
  returning id`

const SET_CLONES = `update dat_games g set clone_of = c.name from jsonb_to_recordset($2::jsonb) as c(position int, name text)
  where g.dat_id = $1 and g.position = c.position`

const COUNT_SAME = `select hash from (
    select sha1_hash as hash from dat_files where dat_id = $1 and sha1_hash <> '' and is_needed
    union all select md5_hash from dat_files where dat_id = $1 and md5_hash <> '' and is_needed
    union all select crc_hash from dat_files where dat_id = $1 and crc_hash <> '' and sha1_hash = '' and md5_hash = '' and is_needed) h
  group by hash having count(*) > ${SAME_HASH_MAX} limit 1`

/** Writes the games of one DAT in batches. */
class GameWriter {
  readonly #client: pg.ClientBase
  readonly #datId: number
  readonly #isTosec: boolean
  readonly #ids = new Map<string, string>()
  readonly #clones: { position: number, parent: string }[] = []
  #gameRows: (string | number | null)[][] = []
  #fileRows: (string | number | boolean | null)[][] = []
  #positions = 0
  /** Games that have a known dump. */
  games = 0
  files = 0

  constructor (client: pg.ClientBase, datId: number, { name, author, version }: DatHeader) {
    this.#client = client
    this.#datId = datId
    this.#isTosec = /tosec/i.test(`${name} ${author} ${version}`)
  }

  async add (game: DatGame): Promise<void> {
    const position = this.#positions++
    if (game.id !== null) this.#ids.set(game.id, game.name)
    if (game.clone_of === null && game.clone_of_id !== null) this.#clones.push({ position, parent: game.clone_of_id })
    const needed = listNeeded(game.files)
    const neededCount = needed.filter(Boolean).length
    if (neededCount > 0) this.games++
    this.#gameRows.push([this.#datId, position, game.name, game.clone_of, neededCount])
    const isBad = this.#isTosec && TOSEC_BAD.test(game.name)
    for (const [index, { name, size, crc, md5, sha1, status, merge, is_disk: isDisk }] of game.files.entries()) {
      const stated = isBad && status === 'good' ? 'baddump' : status
      const isNeeded = needed[index] ?? false
      this.#fileRows.push([this.#datId, position, index, name, size, crc, md5, sha1, stated, merge, isDisk, isNeeded])
    }
    this.files += game.files.length
    if (this.#fileRows.length >= COPIED_FILES) await this.#flush()
  }

  async finish (): Promise<void> {
    await this.#flush()
    const clones = this.#clones.flatMap(({ position, parent }) => {
      const name = this.#ids.get(parent)
      return name === undefined ? [] : [{ position, name }]
    })
    if (clones.length > 0) await this.#client.query(SET_CLONES, [this.#datId, JSON.stringify(clones)])
  }

  async #flush (): Promise<void> {
    const [gameRows, fileRows] = [this.#gameRows.splice(0), this.#fileRows.splice(0)]
    await copyRows(this.#client, 'dat_games', GAME_COLUMNS, gameRows)
    await copyRows(this.#client, 'dat_files', FILE_COLUMNS, fileRows)
  }
}

async function deleteGames (client: pg.ClientBase, id: number): Promise<void> {
  await client.query('delete from dat_matches where dat_id = $1', [id])
  for (let from = 0; from < GAMES_MAX; from += DELETED_GAMES) {
    const range = [id, from, from + DELETED_GAMES]
    await client.query('delete from dat_files where dat_id = $1 and game >= $2 and game < $3', range)
    const { rowCount } = await client.query('delete from dat_games where dat_id = $1 and position >= $2 and position < $3', range)
    if (rowCount === 0) return
  }
}

/** @throws DatError for a DAT without a game, and for one that would make comparisons take too long */
async function checkGames (client: pg.ClientBase, id: number, games: number): Promise<void> {
  if (games === 0) throw new DatError(1, 'the DAT has no game with a hash', 'download it again')
  const { rows: [same] } = await client.query<{ hash: string }>(COUNT_SAME, [id])
  if (same === undefined) return
  throw new DatError(1, `more than ${SAME_HASH_MAX} files have the hash ${same.hash}`, 'split the DAT')
}

/** Runs work in one transaction on a connection of its own. */
async function inOwnTransaction<T> (pool: pg.Pool, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let failure: unknown = null
  try {
    await client.query('begin')
    // The time between two statements includes the reading of a slow disk.
    await client.query('set local idle_in_transaction_session_timeout = 0')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (err) {
    failure = err
    await client.query('rollback').catch(() => undefined)
    throw err
  } finally {
    // A connection on which a COPY broke off is not used again.
    client.release(failure !== null)
  }
}

/**
 * Stores a DAT in place of its former version, all of it or nothing.
 *
 * @returns the stored DAT, or the reason why the stored version stays
 * @throws DatError
 */
export async function storeDat (
  pool: pg.Pool, { header: stated, games }: OpenDat, origin: DatOrigin
): Promise<StoredDat | OlderDat> {
  const name = stated.name || stated.description || origin.fileName.replace(/^.*\//, '').replace(/\.(?:dat|xml)$/i, '')
  const header = { ...stated, name }
  const version = versionOf(header)
  return await inOwnTransaction(pool, async (client) => {
    const { rows: [former] } = await client.query<FormerDat>(
      'select name, version, date, platform_slugs, is_platform_chosen from dats where key = $1 for update', [datKey(name)])
    if (former !== undefined && isOlder(version, versionOf(former))) {
      return { name, version, storedVersion: versionOf(former) }
    }
    const chosen = origin.platformSlugs ?? (former?.is_platform_chosen === true ? former.platform_slugs : null)
    const slugs = chosen ?? findPlatformSlugs(name)
    const { rows: [row] } = await client.query<{ id: number }>(INSERT_DAT, [datKey(name), name, header.description,
      header.version, header.date, header.author, origin.folderPath, slugs, chosen !== null])
    const id = row?.id ?? 0
    await deleteGames(client, id)
    const writer = new GameWriter(client, id, header)
    for await (const game of games) await writer.add(game)
    await writer.finish()
    await checkGames(client, id, writer.games)
    // The database has no statistics of new rows, and would read all files of all DATs to compare one ROM.
    await client.query('analyze dat_games, dat_files')
    await client.query('update dats set game_count = $2, file_count = $3 where id = $1', [id, writer.games, writer.files])
    await client.query(COMPARISON_LOCK)
    await client.query(MARK_CHANGED, [[...former?.platform_slugs ?? [], ...slugs]])
    return { id, name, version, games: writer.games, files: writer.files }
  })
}
