import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Command, runSvc } from '../e2e/server.ts'
import { buildTestApp, createTestDatabase, overTcp } from '../support.ts'
import { until } from '../until.ts'
import { createRandom } from './random.ts'
import { WAIT_MS } from './server.ts'
import { startGate } from './tcp-gate.ts'

/** Folders of unknown platforms, which have no hash at RetroAchievements, so that each file is read once. */
const FOLDERS = Array.from({ length: 20 }, (_none, index) => `machine-${index}`)
const FILES_EACH = 10
const MIB = 1024 ** 2
const FILE_MAX_MIB = Number(process.env.SOAK_FILE_MIB ?? 12)
/** Bytes per second that each worker reads. On a busy machine hashing may be slower, and then hides the gain. */
const SPEED = Number(process.env.SOAK_MB_PER_SECOND ?? 50) * 1e6
const MIN_GAIN = 1.8
/** A worker that took over a task of a dead one looks for it every 30 s. */
const SCAN_MS = 300_000
const PARTED_MS = 60_000
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 5)
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)

const random = createRandom(SEED)
const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const libraryDir = join(folder, 'library')
const readLog = join(folder, 'reads')
const slowReads = join(folder, 'slow-reads.so')
execFileSync('cc', ['-shared', '-fPIC', '-O2', `-DSLOW_DIR="${libraryDir}"`, `-DSLOW_LOG="${readLog}"`, `-DSLOW_BYTES=${SPEED}`,
  '-o', slowReads, join(import.meta.dirname, 'slow-reads.c'), '-ldl', '-lpthread'])
t.comment(`SOAK_SEED=${SEED} SOAK_ROUNDS=${ROUNDS} SOAK_FILE_MIB=${FILE_MAX_MIB}`)

const HOLDERS = "select distinct holder from scan_parts where state = 'leased'"

interface StoredFile { path: string, sha1: string }

/** Writes a file that takes no space on the disk besides its first bytes. @returns its SHA-1 */
async function writeSparse (path: string, bytes: number): Promise<string> {
  const file = await open(path, 'w')
  await file.write(path)
  await file.truncate(bytes)
  await file.close()
  return createHash('sha1').update(await readFile(path)).digest('hex')
}

async function makeLibrary (): Promise<{ files: StoredFile[], bytes: number }> {
  const files: StoredFile[] = []
  let total = 0
  for (const platform of FOLDERS) {
    await mkdir(join(libraryDir, 'roms', platform), { recursive: true })
    for (let index = 0; index < FILES_EACH; index++) {
      const path = `roms/${platform}/Game ${index}.rom`
      const bytes = Math.round(MIB * (1 + random() * (FILE_MAX_MIB - 1)))
      files.push({ path, sha1: await writeSparse(join(libraryDir, path), bytes) })
      total += bytes
    }
  }
  return { files, bytes: total }
}

const library = await makeLibrary()
const databaseUrl = await createTestDatabase(t)
const test = await buildTestApp(t, { databaseUrl, env: { SVC_LIBRARY_DIR: libraryDir } })
let count = 0

/** Starts a scan worker with a data directory of its own, as on another machine. */
async function startWorker (t: Pick<Test, 'teardown'>, url = databaseUrl): Promise<Command> {
  const dataDir = join(folder, `worker-${++count}`)
  await mkdir(dataDir)
  await writeFile(join(dataDir, 'config.yml'), JSON.stringify({ scan: { hash_threads: 1 } }))
  const command = runSvc(t, ['worker'], {
    SVC_DATA_DIR: dataDir, SVC_LIBRARY_DIR: libraryDir, SVC_DATABASE_URL: url, SVC_LOG_LEVEL: 'info',
    SVC_AUTH_SECRET_KEY: 'a key for tests only', LD_PRELOAD: slowReads
  })
  await until(() => {
    if (command.child.exitCode !== null) throw new Error(command.output())
    return command.output().includes('is ready')
  }, 'a scan worker', { ...command, ms: WAIT_MS })
  return command
}

async function stop (command: Command): Promise<void> {
  command.child.kill('SIGTERM')
  await command.ended
}

async function startScan (): Promise<string> {
  await test.app.pg.query('delete from platforms')
  await rm(readLog, { force: true })
  const answer = await test.app.inject({
    method: 'POST', url: '/api/tasks/scan', headers: test.admin, payload: { type: 'quick', apis: [] }
  })
  if (answer.statusCode !== 202) throw new Error(answer.body)
  return (answer.json() satisfies { task_id: string }).task_id
}

interface Scan {
  status: string
  error: string | null
  meta: { scan_stats: Record<string, number>, problems: unknown[] }
}

const waitForEnd = (id: string, { output }: Pick<Command, 'output'>): Promise<Scan> => until(async () => {
  const { rows: [row] } = await test.app.pg.query<Scan & { ended_at: Date | null }>(
    'select status, error, meta, ended_at from tasks where id = $1', [id])
  return row?.ended_at instanceof Date && row
}, 'the end of the scan', { ms: SCAN_MS, output })

/** Checks that each file is stored once, with its hash, and that the report counts each file. */
async function check (t: Test, scan: Scan, what: string): Promise<void> {
  const { rows } = await test.app.pg.query<StoredFile>(`select r.fs_path || '/' || r.fs_name as path, f.sha1_hash as sha1
    from roms r left join rom_files f on f.rom_id = r.id where not r.missing_from_fs`)
  const lines = rows.map(({ path, sha1 }) => `${sha1} ${path}`).sort()
  const expected = library.files.map(({ path, sha1 }) => `${sha1} ${path}`).sort()
  t.strictSame(lines, expected, `${what}: each file is stored once`)
  t.match(scan, {
    status: 'finished',
    error: null,
    meta: {
      problems: [],
      scan_stats: {
        total_platforms: FOLDERS.length, scanned_platforms: FOLDERS.length, new_platforms: FOLDERS.length,
        total_roms: library.files.length, scanned_roms: library.files.length, new_roms: library.files.length,
        new_files: library.files.length
      }
    }
  }, `${what}: the report is whole`)
}

/** Counts how often each file was read. */
async function countReads (): Promise<Map<string, number>> {
  const lines = (await readFile(readLog, 'utf8')).trim().split('\n')
  return new Map([...Map.groupBy(lines, (line) => line)].map(([path, { length }]) => [path, length]))
}

/** Measures a scan by so many workers. @returns its seconds */
async function measure (t: Test, workers: number): Promise<number> {
  const commands = await Promise.all(Array.from({ length: workers }, () => startWorker(t)))
  const [first] = commands
  if (first === undefined) throw new Error('A scan needs a worker')
  const since = performance.now()
  const scan = await waitForEnd(await startScan(), first)
  const seconds = (performance.now() - since) / 1_000
  await check(t, scan, `${workers} workers`)
  t.strictSame([...new Set((await countReads()).values())], [1], `${workers} workers: each file is read once`)
  for (const command of commands) await stop(command)
  return seconds
}

await t.test('two workers scan a slow library almost twice as fast as one', async (t) => {
  const [one, two] = [await measure(t, 1), await measure(t, 2)]
  const speed = (seconds: number) => `${(library.bytes / 1e6 / seconds).toFixed(1)} MB/s in ${seconds.toFixed(1)} s`
  t.comment(`${(library.bytes / 1e6).toFixed(0)} MB: one worker ${speed(one)}, two workers ${speed(two)}`)
  t.ok(one / two >= MIN_GAIN, `${(one / two).toFixed(2)} times as fast`)
})

await t.test('kill -9 of one of two workers loses and duplicates nothing', async (t) => {
  for (let round = 1; round <= ROUNDS; round++) {
    const workers = [await startWorker(t), await startWorker(t)]
    const id = await startScan()
    await until(async () => (await test.app.pg.query(HOLDERS)).rowCount === 2, 'two workers with a part', { ms: WAIT_MS })
    await sleep(random() * library.bytes / SPEED / 3 * 1_000)
    const { rows: [task] } = await test.app.pg.query<{ worker_id: string | null }>('select worker_id from tasks where id = $1', [id])
    const [victim, survivor] = random() < 0.5 ? workers : workers.toReversed()
    if (victim === undefined || survivor === undefined) throw new Error('There are two workers')
    const isLeader = task?.worker_id?.split(':')[1] === String(victim.pid)
    victim.child.kill('SIGKILL')
    await victim.ended
    const what = `round ${round}: the worker ${isLeader ? 'that leads' : 'that helps'} was killed`
    const scan = await waitForEnd(id, survivor)
    await check(t, scan, what)
    const reads = await countReads()
    const again = [...reads].filter(([, times]) => times > 1)
    t.ok(again.every(([, times]) => times === 2), `${what}: no file is read three times`)
    t.comment(`${what}, ${again.length} of ${reads.size} files were read twice`)
    await stop(survivor)
  }
})

/** Records who leases parts and who writes ROMs, by the port of the connection. */
const TRACE = `
  create table soak_trace (
    at timestamptz not null default clock_timestamp(), port int default inet_client_port(), folder text not null, token uuid);
  create function trace_write() returns trigger language plpgsql as $$ begin
    insert into soak_trace (folder) values (regexp_replace(new.fs_path, '^.*/', '')); return null; end $$;
  create function trace_lease() returns trigger language plpgsql as $$ begin
    insert into soak_trace (folder, token) values (regexp_replace(new.folder, '^.*/', ''), new.token); return null; end $$;
  create trigger trace_write after insert or update on roms for each row execute function trace_write();
  create trigger trace_lease after update on scan_parts for each row
    when (new.token is not null and new.token is distinct from old.token) execute function trace_lease()`

interface Traced { at: Date, port: number, folder: string, token: string | null }

/**
 * Returns what is wrong with the trace of a folder: a lease too many, or a write of the worker that lost the lease.
 *
 * @param ports the ports of the parted worker
 */
function findWrong (folder: string, traced: readonly Traced[], ports: ReadonlySet<number>): string[] {
  const leases = traced.filter(({ token }) => token !== null)
  const [former, last] = [leases.at(-2), leases.at(-1)]
  if (former === undefined || last === undefined) return []
  const isLate = ({ at, port, token }: Traced) =>
    token === null && at > last.at && ports.has(port) !== ports.has(last.port)
  const late = traced.filter(isLate)
  return [
    ...leases.length > 2 ? [`${folder} was leased ${leases.length} times`] : [],
    ...late.length > 0 ? [`${folder} was written ${late.length} times by the worker that lost it`] : []
  ]
}

await t.test('a worker without its database for 60 s writes nothing when it is back', async (t) => {
  await test.app.pg.query(TRACE)
  const target = new URL(overTcp(databaseUrl))
  for (const isLeader of [true, false]) {
    await test.app.pg.query('truncate soak_trace')
    const gate = await startGate(t, Number(target.port), target.hostname)
    const through = new URL(target)
    through.host = `127.0.0.1:${gate.port}`
    const what = `the worker that ${isLeader ? 'leads' : 'helps'} was parted`
    const first = await startWorker(t, isLeader ? through.href : databaseUrl)
    const id = await startScan()
    await until(async () => (await test.app.pg.query(HOLDERS)).rowCount === 1, 'the leader with a part', { ms: WAIT_MS })
    const second = await startWorker(t, isLeader ? databaseUrl : through.href)
    await until(async () => (await test.app.pg.query(HOLDERS)).rowCount === 2, 'two workers with a part', { ms: WAIT_MS })
    await sleep(random() * 2_000)
    gate.stall()
    const [parted, other] = isLeader ? [first, second] : [second, first]
    await sleep(PARTED_MS)
    const { rows: [opened] } = await test.app.pg.query<{ now: Date }>('select clock_timestamp() as now')
    gate.open()
    const scan = await waitForEnd(id, other)
    await check(t, scan, what)
    // Everything that the worker sent meanwhile arrives now.
    await sleep(5_000)
    const { rows } = await test.app.pg.query<Traced>('select * from soak_trace order by at')
    const wrong = [...Map.groupBy(rows, ({ folder }) => folder)]
      .flatMap(([folder, traced]) => findWrong(folder, traced, gate.ports))
    t.strictSame(wrong, [], `${what}: each part is leased again once, and its former holder writes nothing`)
    const late = rows.filter(({ at, port, token }) => token === null && gate.ports.has(port) && at > (opened?.now ?? 0))
    const leases = [...Map.groupBy(rows.filter(({ token }) => token !== null), ({ folder }) => folder).values()]
    const again = leases.filter(({ length }) => length > 1)
    t.ok(again.length > 0, `${what}: ${again.length} parts were leased again, ${late.length} writes came later`)
    for (const command of [parted, other]) await stop(command)
  }
})
