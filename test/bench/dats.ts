import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { migrate } from '../../core/database/database.ts'
import type { Db } from '../../core/database/db.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { storeDat } from '../../plugins/dats/load/store-dat.ts'
import { compareLibrary } from '../../plugins/dats/match/compare-library.ts'
import { openDat } from '../../plugins/dats/parse/read-dat.ts'
import { DAT_END, renderDatGame, renderDatStart } from '../../plugins/dats/parse/write-logiqx.ts'
import { EMPTY_HEADER } from '../../plugins/dats/parse/dat-types.ts'
import { features } from '../../plugins/index.ts'
import { openDb } from '../open-db.ts'
import { superuserUrl } from '../superuser.ts'
import { type BenchOptions, createBench } from './options.ts'
import { type Measurement, report } from './report.ts'
import { seedLibrary } from './seed-library.ts'

/** Measures the load of a large DAT, the comparison of a library with it, and the cost of both for a scan. */
const ENTRIES = 100_000
const ROMS = 50_000
const [LOAD_SECONDS, SCAN_MS] = [10, 250]

/** The DAT holds the hashes of the platform's ROMs, and further entries. */
function * renderDat (sums: readonly { sha1_hash: string, fs_name_no_ext: string }[]): Generator<string> {
  yield renderDatStart({ ...EMPTY_HEADER, name: 'Nintendo - Nintendo Entertainment System (20240101)' })
  for (let index = 0; index < ENTRIES; index++) {
    const { sha1_hash: sha1, fs_name_no_ext: name } = sums[index] ?? { sha1_hash: index.toString(16).padStart(40, '0'), fs_name_no_ext: `Game ${index} (USA)` }
    const file = { name: `${name}.nes`, size: index + 1, crc: index.toString(16).padStart(8, '0'), md5: index.toString(16).padStart(32, 'f'), sha1 }
    yield renderDatGame({ name, clone_of: null, files: [{ ...file, status: 'good', merge: null, is_disk: false }] })
  }
  yield DAT_END
}

async function timed (work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function measure (pool: pg.Pool, db: Db, folder: string): Promise<Measurement> {
  const compare = () => compareLibrary(db, new AbortController().signal, async () => {})
  const { rows } = await pool.query<{ sha1_hash: string, fs_name_no_ext: string }>(
    'select sha1_hash, fs_name_no_ext from roms where platform_id = 1 order by id')
  const path = join(folder, 'list.dat')
  await pipeline(Readable.from(renderDat(rows)), createWriteStream(path))
  const load = async () => storeDat(pool, await openDat(createReadStream(path)), { fileName: 'list.dat', folderPath: null, platformSlugs: null })
  const withoutDat = await timed(compare)
  const before = process.cpuUsage()
  const first = await timed(load)
  const { user, system } = process.cpuUsage(before)
  const again = await timed(load)
  const all = await timed(compare)
  await pool.query('analyze rom_dumps; analyze dat_matches')
  const unchanged = await timed(compare)
  await pool.query('update roms set updated_at = now() where platform_id = 1 and id % 10 = 0')
  const changed = await timed(compare)
  const { rows: [count] } = await pool.query<{ good: number }>("select count(*)::int as good from rom_dumps where status in ('verified', 'misnamed')")
  return {
    name: `A DAT of ${ENTRIES} entries, ${ROMS} ROMs of which ${rows.length} are on its platform`,
    figures: {
      'first load, s': first / 1_000,
      'processor time of the first load without the database, s': (user + system) / 1e6,
      'load of the next version, s': again / 1_000,
      'comparison of the platform, s': all / 1_000,
      'ROMs that are good dumps': count?.good ?? 0,
      'scan without a DAT, ms': withoutDat,
      'scan that changed nothing, ms': unchanged,
      'scan that changed a tenth of the platform, ms': changed
    },
    targets: [
      { what: 'first load', is: first / 1_000, most: LOAD_SECONDS, unit: ' s' },
      { what: 'load of the next version', is: again / 1_000, most: LOAD_SECONDS, unit: ' s' },
      { what: 'scan that changed nothing', is: unchanged, most: SCAN_MS, unit: ' ms' }
    ],
    notes: []
  }
}

const options = createBench('dats', `measures the load of a DAT of ${ENTRIES} entries and its cost for scans`).parse().opts<BenchOptions>()
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const database = await startEmbeddedPostgres({ dataDir: join(folder, 'db'), log: () => {} })
const pool = new pg.Pool({ connectionString: database.url, max: 2 })
// The database may stop before the connections notice their own end.
pool.on('error', () => {})
try {
  await migrate({ url: database.url, poolSize: 1, ...await features.loadTables() })
  const client = new pg.Client({ connectionString: superuserUrl(join(folder, 'db'), database.url) })
  await client.connect()
  await client.query("insert into users (username) values ('bench')")
  await seedLibrary(client, ROMS, 1)
  await client.end()
  const { db, close } = await openDb(database.url)
  const measurement = await measure(pool, db, folder)
  await close()
  report(measurement, options)
} finally {
  await pool.end()
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
}
