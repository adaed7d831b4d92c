import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { SCOPES } from '../../core/access/scopes.ts'
import { sha256 } from '../../core/access/secrets.ts'
import { migrate } from '../../core/database/database.ts'
import { readLockFile } from '../../core/postgres/cluster.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { features } from '../../plugins/index.ts'
import { isAlive } from '../e2e/server.ts'
import { superuserUrl } from '../superuser.ts'
import { seedLibrary } from './seed-library.ts'

export const TOKEN = 'svc_bench_lists'
/** The token of a user without marks, who is no administrator. */
export const OTHER_TOKEN = 'svc_bench_lists_other'

/** Collections for the rows that filter by one. */
const COLLECTIONS = `insert into collections (user_id, name, is_favorite) values (1, 'Favourites', true);
  insert into collection_roms (collection_id, rom_id) select 1, id from roms where id % 100 = 0;
  insert into smart_collections (user_id, name, filter_criteria) values (1, 'Zero', '{"franchises": ["Zero"]}')`

export interface LibraryDatabaseOptions {
  roms: number
  /** The folder of the benchmark, which is deleted at its end. */
  folder: string
  /** The folder where databases stay; they are built in `folder` without it. */
  kept: string | undefined
  say (text: string): void
  /** Called as soon as the database runs. */
  onStart (pid: number): void
}

/** A database with a library, which runs until it is stopped. */
export interface LibraryDatabase { url: string, pid: number, client: pg.Client, stop (): Promise<void> }

async function fill (client: pg.ClientBase, { roms, say }: LibraryDatabaseOptions): Promise<void> {
  const { rows: [user, other] } = await client.query<{ id: number }>(
    "insert into users (username, role) values ('bench', 'admin'), ('other', 'user') returning id")
  for (const [owner, token] of [[user, TOKEN], [other, OTHER_TOKEN]] as const) {
    await client.query(`insert into client_tokens (user_id, name, token_hash, scopes, last_used_at)
      values ($1, 'bench', $2, $3, now() + interval '1 day')`, [owner?.id, sha256(token), SCOPES])
  }
  await seedLibrary(client, roms, user?.id ?? 1, (done) => { say(`${roms} ROMs: ${done}`) })
  await client.query(COLLECTIONS)
}

/** Starts the database of a library of this size, and builds the library unless it was stored before. */
export async function openLibraryDatabase (options: LibraryDatabaseOptions): Promise<LibraryDatabase> {
  const { roms, folder, kept, onStart } = options
  const home = kept === undefined ? folder : join(resolve(kept), String(roms))
  const [dataDir, filled] = [join(home, 'db'), join(home, 'filled')]
  const isFilled = existsSync(filled)
  const pid = Number((await readLockFile(dataDir))[0])
  // The start would end it, as if a killed server had left it behind.
  if (pid > 0 && isAlive(pid)) throw new Error(`Process ${pid} uses the database in ${home}; wait for its end`)
  // An incomplete library is built again.
  if (!isFilled) rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(home, { recursive: true })
  const database = await startEmbeddedPostgres({ dataDir, log: () => {}, settings: { fsync: 'off' } })
  onStart(database.pid)
  const client = new pg.Client({ connectionString: superuserUrl(dataDir, database.url) })
  try {
    await migrate({ url: database.url, poolSize: 1, ...await features.loadTables() })
    await client.connect()
    if (!isFilled) await fill(client, options)
    writeFileSync(filled, '')
  } catch (err) {
    await database.stop()
    throw err
  }
  return {
    url: database.url,
    pid: database.pid,
    client,
    async stop () {
      await client.end()
      await database.stop()
    }
  }
}
