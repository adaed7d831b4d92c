import { fork } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { migrate } from '../../core/database/database.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { WEB_FLAGS } from '../../core/supervisor/node-flags.ts'
import { features } from '../../plugins/index.ts'
import { listChildren, runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import { TOKEN, fillLibrary } from './api-library.ts'
import type { Load, LoadOrder } from './load.ts'
import { readProcessorSeconds, runProgram } from './process.ts'
import { type Measurement, type Target, isMet, renderJson, renderTable } from './report.ts'

/** What the API costs beside a program that does no more than the same work on the same database, in turns with it. */
const MILLION = 1_000_000
const ROMS = 46_000
const ROUNDS = 3
const SECONDS = 4
const CONNECTIONS = 10
const MORE_WORKERS = 4
const P99_RATIO_MAX = 2
/** Of a row, in each round: by then everything is compiled and statements are planned. */
const WARM_UPS = 500

interface Row {
  name: string
  path (rom: number): string
  /** What the bare program is asked for instead. */
  barePath?: string
  isOpen?: boolean
  /** At least so much of what the bare program answers. */
  least?: number
  /** At least so many in a second. */
  leastPerSecond?: number
}

const ALONE = 'with_total=false&with_char_index=false&with_rom_id_index=false&with_filter_values=false&with_files=false'
const LIST = `/api/roms?limit=50&${ALONE}`
const ROWS: Row[] = [
  { name: 'one ROM', path: (rom) => `/api/roms/${rom}`, least: 0.6 },
  { name: 'list of 50', path: () => LIST, least: 0.6 },
  { name: 'list of 50 with sidecars, one platform', path: () => '/api/roms?limit=50&platform_ids=1', barePath: LIST, least: 0.3 },
  { name: 'heartbeat with a token', path: () => '/api/heartbeat', leastPerSecond: 5_000 },
  { name: 'health', path: () => '/api/health', isOpen: true }
]

type Ends = (() => unknown)[]
interface Measured extends Omit<Load, 'requests'> {
  /** What a request costs the program, without the database: almost the same on a busy machine. */
  processorMs: number
}
type Measure = (row: Row) => Promise<Measured>

/** Where a program listens, and the processes that answer. */
interface Program { url: string, pids: readonly number[] }

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

function summarise (loads: readonly Measured[]): Measured {
  const of = (field: keyof Measured) => median(loads.map((load) => load[field]))
  return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), bytes: of('bytes'), processorMs: of('processorMs') }
}

async function measure ({ url, pids }: Program, path: string, isOpen = false): Promise<Measured> {
  const readSeconds = () => pids.reduce((sum, pid) => sum + (readProcessorSeconds(pid) ?? NaN), 0)
  const before = readSeconds()
  const { requests, ...load } = await runProgram<Load>('load.ts', {
    url, path, headers: isOpen ? {} : { authorization: `Bearer ${TOKEN}` }, connections: CONNECTIONS, seconds: SECONDS, warmUps: WARM_UPS
  } satisfies LoadOrder)
  return { ...load, processorMs: (readSeconds() - before) * 1_000 / requests }
}

/** Several in turns, so that what else the machine does falls on all of them. */
async function takeTurns (measures: readonly Measure[], row: Row): Promise<Measured[]> {
  const loads: Measured[][] = measures.map(() => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, measure] of measures.entries()) loads[at]?.push(await measure(row))
  }
  return loads.map(summarise)
}

async function startBare (databaseUrl: string, ends: Ends): Promise<Program> {
  const child = fork(fileURLToPath(new URL('bare-program.ts', import.meta.url)), [], { execArgv: WEB_FLAGS })
  ends.unshift(() => child.kill())
  child.send(databaseUrl)
  const [port] = await once(child, 'message') as [number]
  return { url: `http://127.0.0.1:${port}`, pids: child.pid === undefined ? [] : [child.pid] }
}

async function startServer (folder: string, databaseUrl: string, workers: number, ends: Ends): Promise<Program> {
  const teardown = (end?: () => unknown) => { if (end !== undefined) ends.unshift(end) }
  mkdirSync(join(folder, 'library'), { recursive: true })
  const server = runSvc({ teardown }, ['start'], settings(folder, {
    SVC_DATABASE_URL: databaseUrl, SVC_LIBRARY_DIR: join(folder, 'library'), WEB_SERVER_CONCURRENCY: String(workers), SVC_LOG_LEVEL: 'warn'
  }))
  const { url } = await waitUntilListening(server, folder)
  return { url, pids: await listChildren(server.pid, 'web') }
}

const describe = ({ perSecond, p50, p99, processorMs }: Measured) =>
  `${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, processor ${processorMs.toFixed(2)} ms`

function targetsOf ({ name, least, leastPerSecond }: Row, own: Measured, bare: Measured): Target[] {
  const target: Target[] = leastPerSecond === undefined ? [] : [{ what: name, is: own.perSecond, least: leastPerSecond, unit: '/s' }]
  return least === undefined
    ? target
    : [...target, { what: `${name} / bare program`, is: own.perSecond / bare.perSecond, least },
        { what: `${name}, p99 / that of the bare program`, is: own.p99 / bare.p99, most: P99_RATIO_MAX }]
}

async function measureRows (server: Program, bareProgram: Program, rom: number, only: RegExp): Promise<Measurement> {
  const measurement: Measurement = { name: 'One web worker beside the bare program', figures: {}, targets: [], notes: [] }
  for (const row of ROWS.filter(({ name }) => only.test(name))) {
    const [own, bare] = await takeTurns([
      (one) => measure(server, one.path(rom), one.isOpen),
      (one) => measure(bareProgram, one.barePath ?? one.path(rom), one.isOpen)
    ], row)
    if (own === undefined || bare === undefined) continue
    measurement.figures[`${row.name}, ${(own.bytes / 1e3).toFixed(1)} kB`] = describe(own)
    measurement.figures[`  bare program, ${(bare.bytes / 1e3).toFixed(1)} kB`] = describe(bare)
    measurement.figures['  ratio'] = own.perSecond / bare.perSecond
    console.log(`${row.name}: ${describe(own)}; bare ${describe(bare)}; ratio ${(own.perSecond / bare.perSecond).toFixed(2)}`)
    measurement.targets.push(...targetsOf(row, own, bare))
  }
  return measurement
}

/** Several web workers have to be faster than one where there are processors for them. */
async function measureWorkers (oneWorker: Program, moreWorkers: Program, rom: number): Promise<Measurement> {
  const measurement: Measurement = { name: `${MORE_WORKERS} web workers beside one`, figures: {}, targets: [], notes: [] }
  for (const row of ROWS.slice(0, 2)) {
    const turns = [oneWorker, moreWorkers].map((program) => (asked: Row) => measure(program, asked.path(rom)))
    const [one, more] = await takeTurns(turns, row)
    if (one === undefined || more === undefined) continue
    measurement.figures[`${row.name}, one`] = describe(one)
    measurement.figures[`${row.name}, ${MORE_WORKERS}`] = describe(more)
    measurement.targets.push({ what: `${row.name}: ${MORE_WORKERS} / 1`, is: more.perSecond / one.perSecond, least: 1.6 })
  }
  return measurement
}

const optionOf = (name: string) => process.argv[process.argv.indexOf(name) + 1]
const has = (name: string) => process.argv.includes(name)
const only = new RegExp(has('--only') ? optionOf('--only') ?? '' : '')
const roms = has('--million') ? MILLION : ROMS
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const ends: Ends = [() => { rmSync(folder, { recursive: true, force: true }) }]
const measurements: Measurement[] = []
try {
  const database = await startEmbeddedPostgres({ dataDir: join(folder, 'db'), log: () => {} })
  ends.unshift(() => database.stop())
  await migrate({ url: database.url, poolSize: 1, ...features })
  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  await fillLibrary(pool, roms)
  await pool.end()
  const data = join(folder, 'data')
  const bare = await startBare(database.url, ends)
  const server = await startServer(data, database.url, 1, ends)
  const rom = Math.floor(roms / 2)
  measurements.push(await measureRows(server, bare, rom, only))
  if (!has('--only')) {
    const more = await startServer(join(folder, 'more'), database.url, MORE_WORKERS, ends)
    measurements.push(await measureWorkers(server, more, rom))
  }
} finally {
  for (const end of ends) await end()
}
for (const measurement of measurements) console.log(has('--json') ? renderJson(measurement) : renderTable(measurement))
if (has('--check') && !measurements.every(({ targets }) => targets.every(isMet))) process.exitCode = 2
