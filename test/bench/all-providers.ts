import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { migrate } from '../../core/database/database.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { features } from '../../plugins/index.ts'
import type { ScanInput, ScanResult } from './all-providers-scan.ts'
import { buildLibrary } from './library.ts'
import { runProgram } from './process.ts'
import { LATENCY_MS, startProviderServers } from './providers.ts'
import { type BenchOptions, createBench } from './options.ts'
import { type Measurement, report } from './report.ts'

const ROMS = 2_000
const KEYS = Array.from({ length: 17 }, (_none, index) => `bench-${String.fromCharCode(97 + index)}`)
const MOST_RATIO = 1.2
/** The default concurrency of a provider in the contract. Built-in providers set 1 to 8. */
const DEFAULT_CONCURRENCY = 4
const MOST_MIB = 500

/**
 * Measures as many providers as the server has built in. None has a rate limit: each could answer everything in `limit`
 * seconds.
 */
async function measure (folder: string, concurrency: number): Promise<Measurement> {
  const library = await buildLibrary(join(folder, 'library'),
    { roms: ROMS, smallKib: 4, platforms: 2, archives: 0, folders: 0, seed: 2 })
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { recursive: true })
  const database = await startEmbeddedPostgres({ dataDir: join(dataDir, 'db'), log: () => {} })
  const sources = await startProviderServers(KEYS)
  try {
    await migrate({ url: database.url, poolSize: 1, ...await features.loadTables() })
    const input: ScanInput = {
      dataDir, libraryDir: library.dir, databaseUrl: database.url, urls: sources.urls, concurrency
    }
    const used = process.cpuUsage()
    const { seconds, processorSeconds, peakMib, stats, problems } = await runProgram<ScanResult>('all-providers-scan.ts', input)
    if (stats.identified_roms !== ROMS || stats.failed_lookups !== 0 || problems > 0) {
      throw new Error(`The scan left something out: ${JSON.stringify(stats)}, ${problems} problems`)
    }
    const own = process.cpuUsage(used)
    const limit = ROMS * LATENCY_MS / 1_000 / concurrency
    return {
      name: `first scan of ${ROMS} ROMs with ${KEYS.length} providers of ${LATENCY_MS} ms, ${concurrency} requests at once each`,
      figures: {
        seconds,
        'seconds the slowest provider needs': limit,
        'lookups/s': sources.count() / seconds,
        'processor seconds of the scan worker': processorSeconds,
        'milliseconds of it for each lookup': processorSeconds * 1_000 / sources.count(),
        'processor seconds of the sources': (own.user + own.system) / 1_000_000
      },
      targets: [
        { what: "times the slowest provider's own limit", is: seconds / limit, most: MOST_RATIO },
        ...(peakMib === null ? [] : [{ what: 'peak memory of the scan worker', is: peakMib, most: MOST_MIB, unit: ' MiB' }])
      ],
      notes: [`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(2) ?? ''} at the end; the sources answer on the same ones`]
    }
  } finally {
    sources.close()
    await database.stop()
  }
}

function readCount (text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('Give a whole number from 1.')
  return count
}

const options = createBench('providers', `measures a scan that asks ${KEYS.length} sources`)
  .option('--concurrency <count>', 'requests to each of them at once', readCount, DEFAULT_CONCURRENCY)
  .parse().opts<BenchOptions & { concurrency: number }>()
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
try {
  report(await measure(folder, options.concurrency), options)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
