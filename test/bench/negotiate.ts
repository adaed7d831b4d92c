import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { buildApp } from '../../core/app.ts'
import { migrate } from '../../core/database/database.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { migrateJobs } from '../../core/jobs/boss.ts'
import { SCOPES } from '../../core/access/scopes.ts'
import { sha256 } from '../../core/access/secrets.ts'
import { features } from '../../plugins/index.ts'
import { loadConfig } from '../load-config.ts'
import { superuserUrl } from '../superuser.ts'
import { type BenchOptions, createBench } from './options.ts'
import { type Measurement, report } from './report.ts'
import { median } from './statistics.ts'

/**
 * Measures an HTTP negotiation of many files, beside a minimal program that reads the same body, selects the same rows
 * and compares them.
 */
const FILES = 10_000
const FILES_PER_ROM = 4
const ROUNDS = 15
const RATIO_MAX = 2
const TOKEN = 'svc_bench'
/** Shares in percent of files that changed on the device, on the server, and on both. */
const [UPLOADS, DOWNLOADS, CONFLICTS] = [2, 2, 1]

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

interface File { rom: number, name: string, base: string, server: string, device: string }

function makeFiles (): File[] {
  return Array.from({ length: FILES }, (_, i) => {
    const base = hex(20)
    const turn = i % 100
    const isDevices = turn < UPLOADS || (turn >= UPLOADS + DOWNLOADS && turn < UPLOADS + DOWNLOADS + CONFLICTS)
    const isServers = turn >= UPLOADS && turn < UPLOADS + DOWNLOADS + CONFLICTS
    return {
      rom: Math.floor(i / FILES_PER_ROM) + 1,
      name: `Some Game of Average Length (Europe) (Rev ${i % FILES_PER_ROM}).srm`,
      base,
      server: isServers ? hex(20) : base,
      device: isDevices ? hex(20) : base
    }
  })
}

/** Adds one user with one device, whose files are all known to both sides. */
async function fill (pool: pg.Pool, files: readonly File[]): Promise<void> {
  const roms = Math.ceil(FILES / FILES_PER_ROM)
  const columns = [files.map((file) => file.rom), files.map((file) => file.name), files.map((file) => file.server)]
  await pool.query("insert into users (username) values ('bench')")
  await pool.query("insert into devices (user_id, name) values (1, 'bench')")
  await pool.query(`insert into client_tokens (user_id, device_id, name, token_hash, scopes, last_used_at)
    values (1, 1, '', $1, $2, now())`, [sha256(TOKEN), SCOPES])
  await pool.query("insert into platforms (slug, fs_slug, name) values ('snes', 'snes', 'SNES')")
  await pool.query(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    select 1, n || '.sfc', 'roms/snes', n::text, n::text from generate_series(1, $1::int) n`, [roms])
  await pool.query(`insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, sha1, content_hash, disk_path)
    select 'save', 1, rom, 'snes', '', name, sha1, md5(sha1), '' from unnest($1::int[], $2::text[], $3::text[]) f (rom, name, sha1)`, columns)
  await pool.query('insert into device_syncs (device_id, asset_id, last_synced_at) select 1, id, updated_at from assets')
  await pool.query(`insert into sync_bases (device_id, rom_id, kind, key, sha1, content_hash)
    select 1, rom, 'save', 'file:' || name, sha1, md5(sha1) from unnest($1::int[], $2::text[], $3::text[]) f (rom, name, sha1)`,
  [columns[0], columns[1], files.map((file) => file.base)])
  await pool.query('analyze')
}

const MTIME = '2026-01-31T20:15:00Z'

const byFile = (files: readonly File[]) => JSON.stringify({
  roms: [...Map.groupBy(files, (file) => file.rom)].map(([rom, saves]) => ({
    rom_id: rom, saves: saves.map(({ name, device }) => ({ file: name, mtime: MTIME, sha1: device }))
  }))
})

const SAME_ROWS = `select a.id, a.rom_id, a.file_name, a.slot, a.emulator, a.sha1, a.content_hash, a.updated_at, d.last_synced_at,
    b.sha1 as base_sha1, b.content_hash as base_content_hash
  from assets a left join device_syncs d on d.asset_id = a.id and d.device_id = 1
  left join sync_bases b on b.device_id = 1 and b.rom_id = a.rom_id and b.kind = a.kind and b.key = 'file:' || a.file_name
  where a.user_id = 1 and a.kind = any('{save,state}') and a.deleted_at is null and a.rom_id = any($1::int[])`

interface Row { rom_id: number, file_name: string, sha1: string, base_sha1: string | null }
interface Body { roms: { rom_id: number, saves: { file: string, sha1: string }[] }[] }

/** Does the minimal comparison. */
async function compare (pool: pg.Pool, text: string): Promise<Record<string, number>> {
  const { roms } = JSON.parse(text) as Body
  const { rows } = await pool.query<Row>(SAME_ROWS, [roms.map((rom) => rom.rom_id)])
  const known = new Map(rows.map((row) => [`${row.rom_id}/${row.file_name}`, row]))
  const counts: Record<string, number> = { noop: 0, upload: 0, download: 0, conflict: 0 }
  for (const { rom_id: rom, saves } of roms) {
    for (const { file, sha1 } of saves) {
      const row = known.get(`${rom}/${file}`)
      const action = row === undefined || (row.sha1 !== sha1 && row.sha1 === row.base_sha1)
        ? 'upload'
        : row.sha1 === sha1 ? 'noop' : row.base_sha1 === sha1 ? 'download' : 'conflict'
      counts[action] = (counts[action] ?? 0) + 1
    }
  }
  return counts
}

async function negotiate (url: string, body: string): Promise<Record<string, number>> {
  const answer = await fetch(`${url}/api/sync/negotiate`, {
    method: 'POST', headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }, body
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`The negotiation was refused with ${answer.status}: ${text.slice(0, 500)}`)
  const { operations } = JSON.parse(text) as { operations: { type: string }[] }
  const counts: Record<string, number> = { noop: 0, upload: 0, download: 0, conflict: 0 }
  for (const { type } of operations) counts[type] = (counts[type] ?? 0) + 1
  return counts
}

interface Timing { ms: number, cpu: number }

/** Measures the time of some work, and the processor time of this process, which other programs disturb less. */
async function timed<T> (work: () => Promise<T>): Promise<Timing & { result: T }> {
  const [started, used] = [performance.now(), process.cpuUsage()]
  const result = await work()
  const { user, system } = process.cpuUsage(used)
  return { ms: performance.now() - started, cpu: (user + system) / 1000, result }
}

async function countStatements (pool: pg.Pool, work: () => Promise<unknown>): Promise<number> {
  await pool.query('select pg_stat_statements_reset()')
  await work()
  const { rows: [row] } = await pool.query<{ calls: number }>(`select sum(calls)::int as calls from pg_stat_statements
    where toplevel and query !~* 'pg_stat_statements|^begin|^commit|pg_notify|workers|pgboss'`)
  return row?.calls ?? 0
}

async function measure (url: string, pool: pg.Pool): Promise<Measurement> {
  const files = makeFiles()
  await fill(pool, files)
  const body = byFile(files)
  const [served, bare]: [Timing[], Timing[]] = [[], []]
  const first = await timed(() => negotiate(url, body))
  for (let round = 0; round < ROUNDS; round++) {
    const [one, other] = [await timed(() => compare(pool, body)), await timed(() => negotiate(url, body))]
    if (JSON.stringify(one.result) !== JSON.stringify(other.result)) {
      throw new Error(`They differ: ${JSON.stringify([one.result, other.result])}`)
    }
    bare.push(one)
    served.push(other)
  }
  const [ours, theirs] = [median(served.map(({ ms }) => ms)), median(bare.map(({ ms }) => ms))]
  return {
    name: `Negotiation of ${FILES} files`,
    figures: {
      'the body, MB': body.length / 1e6,
      'first negotiation, ms': first.ms,
      'negotiation, ms (median)': ours,
      'negotiation, ms (least)': Math.min(...served.map(({ ms }) => ms)),
      'negotiation, ms of processor time, without PostgreSQL (least)': Math.min(...served.map(({ cpu }) => cpu)),
      'bare program, ms (median)': theirs,
      'bare program, ms (least)': Math.min(...bare.map(({ ms }) => ms)),
      'bare program, ms of processor time, without PostgreSQL (least)': Math.min(...bare.map(({ cpu }) => cpu)),
      'SQL statements': await countStatements(pool, () => negotiate(url, body))
    },
    targets: [{ what: 'negotiation / bare program', is: ours / theirs, most: RATIO_MAX }],
    notes: []
  }
}

const options = createBench('negotiate', `measures a negotiation of ${FILES} files`).parse().opts<BenchOptions>()
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const database = await startEmbeddedPostgres({
  dataDir: join(folder, 'db'), log: () => {}, settings: { shared_preload_libraries: 'pg_stat_statements' }
})
const pool = new pg.Pool({ connectionString: superuserUrl(join(folder, 'db'), database.url), max: 1 })
// The database may stop before the connection notices its own end.
pool.on('error', () => {})
try {
  await migrate({ url: database.url, poolSize: 1, ...await features.loadTables() })
  await migrateJobs(database.url, (err) => { throw err })
  await pool.query('create extension pg_stat_statements')
  const { config } = loadConfig({ SVC_DATA_DIR: join(folder, 'data'), SVC_AUTH_SECRET_KEY: 'a key for this run only' })
  const app = await buildApp({
    config, role: 'web', databaseUrl: database.url, logger: pino({ level: 'error' }), features, workerNumber: 1, packages: []
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const measurement = await measure(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, pool)
  await app.close()
  report(measurement, options)
} finally {
  await pool.end()
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
}
