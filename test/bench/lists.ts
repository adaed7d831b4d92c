import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Pool } from 'undici'
import { SCOPES } from '../../core/access/scopes.ts'
import { sha256 } from '../../core/access/secrets.ts'
import { migrate } from '../../core/database/database.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { features } from '../../plugins/index.ts'
import { runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import { type Measurement, isMet, renderJson, renderTable } from './report.ts'
import { seedLibrary } from './seed-library.ts'

/** What lists cost as the library grows: one request at a time, first when nothing is kept and then again and again. */
const [USUAL, MILLION] = [46_000, 1_000_000]
/** Right after a million ROMs were written the disk is busy for a while. */
const START_MS = 180_000
const ROUNDS = 15
const TRIES = 60
const GROWTH_MAX = 2
const P50_MAX_MS = 50
const TOKEN = 'svc_bench_lists'

interface Row {
  name: string
  path: string
  /** Grows with the library by what it is: bytes that are there already. */
  sendsAllIds?: boolean
}

const BARE = 'with_total=false&with_char_index=false&with_filter_values=false&with_rom_id_index=false'
const deep = (roms: number) => Math.floor(roms * 0.9)
const rowsOf = (roms: number): Row[] => [
  { name: 'list, default sidecars', path: 'roms?limit=50', sendsAllIds: true },
  { name: 'list, everything but the ids', path: 'roms?limit=50&with_rom_id_index=false' },
  { name: 'list, no sidecars', path: `roms?limit=50&${BARE}` },
  { name: 'offset of nine tenths', path: `roms?limit=50&offset=${deep(roms)}&${BARE}` },
  { name: 'search, one word', path: `roms?limit=50&search_term=dragon&${BARE}` },
  { name: 'search, two words', path: `roms?limit=50&search_term=dragon+castle&${BARE}` },
  { name: 'order_by=created_at', path: `roms?limit=50&order_by=created_at&${BARE}` },
  { name: 'order_by=fs_size_bytes', path: `roms?limit=50&order_by=fs_size_bytes&${BARE}` },
  { name: 'genres=Quiz', path: `roms?limit=50&genres=Quiz&${BARE}` },
  { name: 'group_by_meta_id', path: `roms?limit=50&group_by_meta_id=true&${BARE}` },
  { name: '/roms/filters', path: 'roms/filters' },
  { name: '/roms/identifiers', path: 'roms/identifiers', sendsAllIds: true },
  { name: '/platforms', path: 'platforms' },
  { name: '/roms/random', path: 'roms/random' }
]

interface Times { first: number, p50: number, bytes: number }
type Ends = (() => unknown)[]

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

/** Until it is answered: what a very slow machine is still making is there for a later request. */
async function ask (pool: Pool, path: string): Promise<number> {
  for (let tries = 1; ; tries++) {
    const { statusCode, body } = await pool.request({
      method: 'GET', path: `/api/${path}`, headers: { authorization: `Bearer ${TOKEN}`, 'accept-encoding': 'gzip' }
    })
    const { byteLength } = await body.arrayBuffer()
    if (statusCode === 200) return byteLength
    if (statusCode !== 503 || tries === TRIES) throw new Error(`${path} was answered with ${statusCode}`)
  }
}

async function timeRow (pool: Pool, { path }: Row): Promise<Times> {
  const times: number[] = []
  let bytes = 0
  for (let round = 0; round <= ROUNDS; round++) {
    const started = performance.now()
    bytes = await ask(pool, path)
    times.push(performance.now() - started)
  }
  const [first = NaN, ...others] = times
  return { first, p50: median(others), bytes }
}

async function fill (url: string, roms: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows: [user] } = await client.query<{ id: number }>(
    "insert into users (username, role) values ('bench', 'admin') returning id")
  await client.query(`insert into client_tokens (user_id, name, token_hash, scopes, last_used_at)
    values ($1, 'bench', $2, $3, now() + interval '1 day')`, [user?.id, sha256(TOKEN), SCOPES])
  await seedLibrary(client, roms, user?.id ?? 1)
  await client.end()
}

/** The times of every row in a library of its own. */
async function measure (roms: number, only: RegExp): Promise<Map<string, Times>> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const ends: Ends = [() => { rmSync(folder, { recursive: true, force: true }) }]
  try {
    const database = await startEmbeddedPostgres({ dataDir: join(folder, 'db'), log: () => {} })
    ends.unshift(() => database.stop())
    await migrate({ url: database.url, poolSize: 1, ...features })
    await fill(database.url, roms)
    const data = join(folder, 'data')
    mkdirSync(join(data, 'library'), { recursive: true })
    const server = runSvc({ teardown: (end) => { if (end !== undefined) ends.unshift(end) } }, ['start'], settings(data, {
      SVC_DATABASE_URL: database.url, SVC_LIBRARY_DIR: join(data, 'library'), WEB_SERVER_CONCURRENCY: '1', SVC_LOG_LEVEL: 'warn'
    }))
    const pool = new Pool((await waitUntilListening(server, data, START_MS)).url, { connections: 1 })
    ends.unshift(() => pool.close())
    const times = new Map<string, Times>()
    for (const row of rowsOf(roms).filter(({ name }) => only.test(name))) {
      const found = await timeRow(pool, row)
      console.log(`${roms} ROMs, ${row.name}: first ${found.first.toFixed(0)}, p50 ${found.p50.toFixed(1)} ms`)
      times.set(row.name, found)
    }
    return times
  } finally {
    for (const end of ends) await end()
  }
}

const describe = ({ first, p50, bytes }: Times) => `${first.toFixed(0)} / ${p50.toFixed(1)}, ${(bytes / 1e3).toFixed(1)}`

function compare (usual: ReadonlyMap<string, Times>, large: ReadonlyMap<string, Times>): Measurement {
  const measurement: Measurement = { name: 'Lists as the library grows', figures: {}, targets: [], notes: [] }
  const { figures, targets } = measurement
  for (const { name, sendsAllIds = false } of rowsOf(MILLION)) {
    const [small, big] = [usual.get(name), large.get(name)]
    if (small !== undefined) figures[`${name}, first / p50 ms, kB`] = describe(small)
    if (small === undefined || big === undefined) continue
    figures[`  ${name}, 1,000,000 ROMs`] = describe(big)
    figures[`  ${name}, ratio of p50`] = big.p50 / small.p50
    if (sendsAllIds) continue
    targets.push({ what: `${name}: p50 with 1,000,000 / 46,000`, is: big.p50 / small.p50, most: GROWTH_MAX },
      { what: `${name}: p50 with 1,000,000`, is: big.p50, most: P50_MAX_MS, unit: ' ms' })
  }
  return measurement
}

const has = (name: string) => process.argv.includes(name)
const only = new RegExp(has('--only') ? process.argv[process.argv.indexOf('--only') + 1] ?? '' : '')
const measurement = compare(await measure(USUAL, only), has('--million') ? await measure(MILLION, only) : new Map())
console.log(has('--json') ? renderJson(measurement) : renderTable(measurement))
if (has('--check') && !measurement.targets.every(isMet)) process.exitCode = 2
