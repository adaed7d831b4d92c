import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../until.ts'
import { COVERS, GAMES, audit, makeLibrary } from './library.ts'
import { createRandom } from './random.ts'
import { type ScanRow, type SoakServer, WAIT_MS, forgetScans, startServer } from './server.ts'

/** An interrupted and restarted scan may take this long on a busy machine. */
const SCAN_MS = 600_000
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 5)
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)

const random = createRandom(SEED)
const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const dataDir = join(folder, 'data')
const libraryDir = join(folder, 'library')
const resources = join(dataDir, 'resources')
const expected = await makeLibrary(libraryDir)
t.comment(`SOAK_SEED=${SEED} SOAK_ROUNDS=${ROUNDS}`)

const start = (t: Pick<Test, 'teardown'>) => startServer(t, dataDir, libraryDir)
const seconds = (since: number) => ((performance.now() - since) / 1_000).toFixed(1)

async function waitForEnd (server: SoakServer, task: string): Promise<ScanRow> {
  return await until(async () => {
    const row = await server.look(task)
    return row?.ended_at instanceof Date && row
  }, 'the end of the scan', { ...server.command, ms: SCAN_MS })
}

/** Duration of the whole undisturbed scan. */
let undisturbedMs = 0

await t.test('an undisturbed scan finds everything', async (t) => {
  const server = await start(t)
  const since = performance.now()
  const row = await waitForEnd(server, await server.scan())
  undisturbedMs = performance.now() - since
  t.match(row, { status: 'finished', error: null, attempts: 1 })
  await until(async () => server.told.length > 0, 'the word that it is done', { ...server.command, ms: WAIT_MS })
  t.same(server.told, ['scan:done'])
  t.same((await auditOf(server)).slice(0, 5), [])
  t.comment(`${GAMES} files and ${COVERS} covers in ${seconds(since)} s`)
  await server.stop()
})

async function auditOf (server: SoakServer): Promise<string[]> {
  return await audit(server.databaseUrl(), resources, expected)
}

interface Victim {
  name: string
  /** Kills the victim. @returns the server that runs after it */
  kill (server: SoakServer, t: Pick<Test, 'teardown'>): Promise<SoakServer>
  /** True if a client that stays connected receives the end. */
  isTold: boolean
}

const VICTIMS: Victim[] = [
  {
    name: 'the scan worker',
    isTold: true,
    async kill (server) {
      process.kill(await server.workerPid(), 'SIGKILL')
      return server
    }
  },
  {
    name: 'the supervisor',
    isTold: false,
    async kill (server, t) {
      server.command.child.kill('SIGKILL')
      await server.command.ended
      return await start(t)
    }
  },
  {
    name: 'the database',
    isTold: true,
    async kill (server) {
      process.kill(await server.databasePid(), 'SIGKILL')
      return server
    }
  }
]

for (const { name, kill, isTold } of VICTIMS) {
  await t.test(`kill -9 of ${name} during a scan loses and duplicates nothing`, async (t) => {
    for (let round = 1; round <= ROUNDS; round++) {
      const since = performance.now()
      const first = await start(t)
      await forgetScans(first, resources)
      const task = await first.scan()
      const moment = random()
      await sleep(undisturbedMs * moment)
      const before = await first.look(task)
      const server = await kill(first, t)
      const row = await waitForEnd(server, task)
      const what = `round ${round}: killed at ${(moment * 100).toFixed(0)} % of the time and ${before?.scanned} of ${GAMES} ` +
        `files, then ${row.status} at attempt ${row.attempts}`
      t.ok(row.status === 'finished' || (row.status === 'failed' && row.error !== null), what)
      if (isTold) {
        await until(async () => server.told.length > 0, 'the word that it is over', { ...server.command, ms: WAIT_MS })
        t.match(server.told, [row.status === 'finished' ? 'scan:done' : /^scan:done_ko ./], `${what}, and clients know`)
      }
      const second = await waitForEnd(server, await server.scan())
      t.match(second, { status: 'finished' }, `${what}, and a quick scan after it`)
      const wrong = await auditOf(server)
      t.same(wrong.slice(0, 5), [], `${what}: ${wrong.length} things wrong`)
      await server.stop()
      t.comment(`${name}, ${what}, ${seconds(since)} s`)
    }
  })
}
