import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import yauzl from 'yauzl'
import { tryFetch } from '../e2e/server.ts'
import { until } from '../until.ts'
import { createRandom } from './random.ts'
import { AUTHORIZATION, type ScanRow, type SoakServer, WAIT_MS, startServer } from './server.ts'

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 5)
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
const GAMES = 120
/** An interrupted and restarted conversion may take this long on a busy machine. */
const CONVERT_MS = 600_000

const random = createRandom(SEED)
const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const [dataDir, libraryDir] = [join(folder, 'data'), join(folder, 'library')]
const roms = join(libraryDir, 'roms', 'nes')
t.comment(`SOAK_SEED=${SEED} SOAK_ROUNDS=${ROUNDS}`)

const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest('hex')
const nameOf = (game: number) => `Game ${String(game).padStart(3, '0')}`
/** Returns content from some bytes to 4 MB, whose second half is incompressible. */
function contentOf (game: number): Buffer {
  const noise = Array.from({ length: game % 40 * 2_500 }, (_none, index) => createHash('sha1').update(`${game} ${index}`).digest())
  return Buffer.concat([Buffer.from(`${game} `.repeat(1 + game * 1_000)), ...noise])
}

await mkdir(roms, { recursive: true })
const expected = new Map<string, string>()
for (let game = 0; game < GAMES; game++) {
  const bytes = contentOf(game)
  await writeFile(join(roms, `${nameOf(game)}.nes`), bytes)
  expected.set(nameOf(game), sha1(bytes))
}

async function waitForEnd (server: SoakServer, task: string): Promise<ScanRow> {
  return await until(async () => {
    const row = await server.look(task)
    return row?.ended_at instanceof Date && row
  }, 'the end of the task', { ...server.command, ms: CONVERT_MS })
}

const startConversion = (server: SoakServer, to: string) => until(async () => {
  const answer = await tryFetch(`${server.url}/api/tasks/run/convert_library`, {
    method: 'POST', headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' }, body: JSON.stringify({ to })
  })
  return answer?.status === 200 && ((await answer.json()) as { task_id: string }).task_id
}, 'a conversion', { ...server.command, ms: WAIT_MS })

async function readMember (path: string): Promise<Buffer> {
  const zip = await yauzl.openPromise(path)
  const chunks: Buffer[] = []
  for await (const entry of zip.eachEntry()) {
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

interface Row { id: number, fs_name: string, sha1_hash: string, missing_from_fs: boolean, files: string }
const ROWS = `select id, fs_name, sha1_hash, missing_from_fs, (select string_agg(file_name, '|') from rom_files where rom_id = roms.id) as files
  from roms order by fs_name`

/** Compares disk and database with the original state. @returns the differences */
async function audit (server: SoakServer, ids: ReadonlyMap<string, number>): Promise<string[]> {
  const wrong: string[] = []
  const seen = new Set<string>()
  for (const name of (await readdir(roms)).sort()) {
    const [stem = '', extension] = [name.slice(0, name.lastIndexOf('.')), name.slice(name.lastIndexOf('.'))]
    if (seen.has(stem)) wrong.push(`${stem} is there twice`)
    seen.add(stem)
    const bytes = extension === '.zip' ? await readMember(join(roms, name)) : await readFile(join(roms, name)).catch(() => Buffer.alloc(0))
    if (expected.get(stem) !== sha1(bytes)) wrong.push(`${name} has another content`)
  }
  for (const stem of expected.keys()) if (!seen.has(stem)) wrong.push(`${stem} is lost`)
  const rows = await until(() => server.query<Row>(ROWS), 'the rows', server.command)
  if (rows.length !== GAMES) wrong.push(`${rows.length} rows`)
  const names = new Set(await readdir(roms))
  for (const { id, fs_name: name, sha1_hash: hash, missing_from_fs: isMissing, files } of rows) {
    const stem = name.slice(0, name.lastIndexOf('.'))
    if (ids.get(stem) !== id) wrong.push(`${name} has the id ${id}`)
    if (expected.get(stem) !== hash) wrong.push(`${name} has another hash`)
    if (isMissing || !names.has(name) || files !== name) wrong.push(`the row of ${name} does not fit the disk (${files})`)
  }
  const begun = await until(() => server.query('select * from rom_conversions'), 'what was begun', server.command)
  return [...wrong, ...begun.map((row) => `begun: ${JSON.stringify(row)}`)]
}

const start = (t: Pick<Test, 'teardown'>) => startServer(t, dataDir, libraryDir)

interface Victim {
  name: string
  /** @returns the server that runs after the kill */
  kill (server: SoakServer, t: Pick<Test, 'teardown'>): Promise<SoakServer>
}

const VICTIMS: Victim[] = [
  {
    name: 'the scan worker',
    async kill (server) {
      process.kill(await server.workerPid(), 'SIGKILL')
      return server
    }
  },
  {
    name: 'the supervisor',
    async kill (server, t) {
      server.command.child.kill('SIGKILL')
      await server.command.ended
      return await start(t)
    }
  },
  {
    name: 'the database',
    async kill (server) {
      process.kill(await server.databasePid(), 'SIGKILL')
      return server
    }
  }
]

const ids = new Map<string, number>()
let undisturbedMs = 0

await t.test('an undisturbed conversion converts everything', async (t) => {
  const server = await start(t)
  await waitForEnd(server, await server.scan())
  for (const { id, fs_name: name } of await until(() => server.query<Row>(ROWS), 'the rows', server.command)) ids.set(name.slice(0, -4), id)
  const since = performance.now()
  for (const to of ['zip', 'plain']) {
    t.match(await waitForEnd(server, await startConversion(server, to)), { status: 'finished', error: null })
    t.same((await audit(server, ids)).slice(0, 5), [], to)
  }
  undisturbedMs = (performance.now() - since) / 2
  t.comment(`${GAMES} files in ${Math.round(undisturbedMs)} ms`)
  await server.stop()
})

for (const { name, kill } of VICTIMS) {
  await t.test(`kill -9 of ${name} during a conversion loses no file and leaves no file behind`, async (t) => {
    for (let round = 1; round <= ROUNDS; round++) {
      const first = await start(t)
      const to = round % 2 === 1 ? 'zip' : 'plain'
      const task = await startConversion(first, to)
      const moment = random()
      await sleep(undisturbedMs * moment)
      const server = await kill(first, t)
      const row = await waitForEnd(server, task)
      const what = `${name}, round ${round}, to ${to}, killed at ${Math.round(moment * 100)} %`
      t.match(row, { status: 'finished' }, what)
      const wrong = await audit(server, ids)
      t.same(wrong.slice(0, 5), [], `${what}: ${wrong.length} things wrong`)
      t.match(await waitForEnd(server, await server.scan()), { status: 'finished' }, `${what}, and a scan after it`)
      const later = await audit(server, ids)
      t.same(later.slice(0, 5), [], `${what}, after a scan: ${later.length} things wrong`)
      await server.stop()
    }
    // Convert back to plain files for the next victim.
    const server = await start(t)
    t.match(await waitForEnd(server, await startConversion(server, 'plain')), { status: 'finished' })
    t.same((await audit(server, ids)).slice(0, 5), [])
    await server.stop()
  })
}
