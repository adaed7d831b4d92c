import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { listChildren, tryFetch } from '../e2e/server.ts'
import { until } from '../until.ts'
import { History, histories } from '../plugins/sync/histories.ts'
import { AUTHORIZATION, type SoakServer, WAIT_MS, startServer } from './server.ts'

const RUNS = Number(process.env.SOAK_ROUNDS ?? 5) * 8
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)

const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const [dataDir, libraryDir] = [join(folder, 'data'), join(folder, 'library')]
await mkdir(join(libraryDir, 'roms', 'snes'), { recursive: true })
for (let game = 0; game < RUNS * 20; game++) await writeFile(join(libraryDir, 'roms', 'snes', `Game ${game}.sfc`), String(game))
t.comment(`SOAK_SEED=${SEED} SOAK_ROUNDS=${RUNS / 8}`)

let kills = 0
let server: SoakServer

/** Kills a web worker, the database or the whole server in turns. */
async function kill (): Promise<void> {
  const victim = kills++ % 3
  if (victim === 2) {
    server.command.child.kill('SIGKILL')
    await server.command.ended
    server = await startServer(t, dataDir, libraryDir)
  } else {
    const pid = victim === 0 ? (await listChildren(server.command.pid, 'web'))[0] : await server.databasePid()
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
  }
}

const ready = async () => {
  await until(async () => {
    const answer = await tryFetch(`${server.url}/api/devices`, { headers: { authorization: AUTHORIZATION } })
    return answer?.status === 200
  }, 'an answer', { ...server.command, ms: WAIT_MS })
}

t.test('kill -9 between any two steps of a sync loses nothing', async (t) => {
  t.teardown(() => { server.command.child.kill('SIGTERM') })
  server = await startServer(t, dataDir, libraryDir)
  const task = await server.scan()
  await until(async () => (await server.look(task))?.ended_at instanceof Date, 'the end of the scan', { ...server.command, ms: WAIT_MS })
  const roms = await server.query<{ id: number }>('select id from roms order by id') ?? []
  const host = { url: () => server.url, authorization: AUTHORIZATION, kill, ready }
  let accepted = 0
  await fc.assert(fc.asyncProperty(histories({ kills: true }), async (steps) => {
    const rom = roms.pop()
    if (rom === undefined) throw new Error('There are too few ROMs for this many histories')
    const history = new History(host, rom.id)
    await history.check(steps)
    accepted += history.accepted.size
  }), { numRuns: RUNS, seed: SEED, endOnFailure: true })
  t.comment(`${RUNS} histories, ${kills} kills, ${accepted} contents taken, all of which can be downloaded`)
  await server.stop()
})
