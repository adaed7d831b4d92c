import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../../core/database/database.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { features } from '../../plugins/index.ts'
import { createSmallCover } from '../../plugins/resources/image.ts'
import { startGuard } from '../bench/guard.ts'
import { seedLibrary } from '../bench/seed-library.ts'
import { runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import { superuserUrl } from '../superuser.ts'
import { drawCover, inventGames } from './library.ts'

export const ACCOUNT = { SVC_ADMIN_USERNAME: 'bench', SVC_ADMIN_PASSWORD: 'for figures only' }
/** Different pictures, each the cover of many games. */
const PICTURES = 60
/** The height of a drawn cover, which decides the size of its small copy. */
const COVER_PIXELS = 600

/** Gives the games that are scrolled small covers, as a scan stores them. */
async function addCovers (client: pg.Client, resources: string, covers: number): Promise<void> {
  mkdirSync(resources, { recursive: true })
  const pictures = await Promise.all(inventGames(PICTURES).map(async ({ name }, index) => {
    const path = join(resources, `${index}.png`)
    writeFileSync(path, await drawCover(name, index))
    writeFileSync(path, await createSmallCover(path, 'png', COVER_PIXELS))
    return path
  }))
  const { rows } = await client.query<{ folder: string }>(`update roms r set path_cover_small = folder || '/small.png'
    from (select id, 'roms/' || platform_id || '/' || id || '/cover' as folder from roms order by name_sort_key, id limit $1) first
    where r.id = first.id returning folder`, [covers])
  for (const [index, { folder }] of rows.entries()) {
    mkdirSync(join(resources, folder), { recursive: true })
    linkSync(pictures[index % PICTURES] ?? '', join(resources, folder, 'small.png'))
  }
}

interface LargeLibrary { roms: number, /** The first games that get covers. */ covers: number }

/** Runs the work on a server with a large library. */
export async function withLargeLibrary<Result> (
  { roms, covers }: LargeLibrary, work: (server: { url: string, pid: number }) => Promise<Result>
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const guard = startGuard()
  const ends: (() => unknown)[] = [() => { rmSync(folder, { recursive: true, force: true }) }, () => { guard.stop() }]
  try {
    const dataDir = join(folder, 'db')
    const database = await startEmbeddedPostgres({ dataDir, log: () => {}, settings: { fsync: 'off' } })
    ends.unshift(() => database.stop())
    guard.watch({ pids: [database.pid], folder })
    await migrate({ url: database.url, poolSize: 1, ...await features.loadTables() })
    const data = join(folder, 'data')
    mkdirSync(join(data, 'library'), { recursive: true })
    const server = runSvc({ teardown: (end) => { if (end !== undefined) ends.unshift(end) } }, ['start'], settings(data, {
      SVC_DATABASE_URL: database.url, SVC_LIBRARY_DIR: join(data, 'library'), SVC_LOG_LEVEL: 'warn', ...ACCOUNT
    }))
    guard.watch({ pids: [server.pid, database.pid], folder })
    const { url } = await waitUntilListening(server, data)
    const client = new pg.Client({ connectionString: superuserUrl(dataDir, database.url) })
    await client.connect()
    ends.unshift(() => client.end())
    await seedLibrary(client, roms, 1, (done) => { console.error(`${roms} ROMs: ${done}`) })
    await addCovers(client, join(data, 'resources'), covers)
    return await work({ url, pid: server.pid })
  } finally {
    for (const end of ends) await end()
  }
}
