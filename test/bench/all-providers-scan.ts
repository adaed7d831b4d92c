import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pino } from 'pino'
import { buildApp } from '../../core/app.ts'
import type { PluginPackage } from '../../core/loader/packages/packages.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { features } from '../../plugins/index.ts'
import { loadConfig } from '../load-config.ts'
import { until } from '../until.ts'
import { type Timing, answer, time } from './process.ts'
import { sourceOf } from './providers.ts'

export interface ScanInput {
  dataDir: string
  libraryDir: string
  databaseUrl: string
  /** The address of each provider's service by the provider's key. */
  urls: Record<string, string>
  /** Concurrent requests to each service. */
  concurrency: number
}
export interface ScanResult extends Timing { stats: Record<string, number>, problems: number }

const SDK = pathToFileURL(join(SERVER_DIR, 'sdk/src/index.ts')).href

const SCAN_MS = 600_000

/** Writes a provider package that counts as built-in, because such code runs in the scan worker. */
function writePackage (dataDir: string, key: string, concurrency: number): PluginPackage {
  const folder = join(dataDir, key)
  const entry = join(folder, 'index.mjs')
  mkdirSync(folder, { recursive: true })
  writeFileSync(entry, sourceOf(key, SDK, concurrency))
  return {
    folder, entry, name: `@svc/provider-${key}`, version: '1.0.0', manifest: { kind: 'provider', key, sdk: '^2' },
    origin: 'built-in', problem: null
  }
}

/** Runs only the scan worker, which is measured with all that it holds in memory. */
answer<ScanInput, ScanResult>(async ({ dataDir, libraryDir, databaseUrl, urls, concurrency }) => {
  const packages = Object.keys(urls).map((key) => writePackage(dataDir, key, concurrency))
  const plugins = Object.fromEntries(Object.entries(urls).map(([key, baseUrl]) => [key, { baseUrl }]))
  // JSON is valid YAML.
  writeFileSync(join(dataDir, 'config.yml'), JSON.stringify({ plugins }))
  const { config } = loadConfig({
    SVC_DATA_DIR: dataDir, SVC_LIBRARY_DIR: libraryDir, SVC_AUTH_SECRET_KEY: 'a key of the benchmark'
  })
  const app = await buildApp({
    config, role: 'worker', databaseUrl, logger: pino({ level: 'warn' }), features, workerNumber: 0, packages
  })
  await app.ready()
  await until(() => app.workers.isAlive('worker'), 'a scan worker')
  const { id } = await app.scans.request({
    type: 'quick', platforms: [], platform_fs_slugs: [], roms_ids: [], apis: Object.keys(urls)
  }, null)
  const timing = await time(async () => {
    const hasEnded = async () =>
      (await app.pg.query('select 1 from tasks where id = $1 and ended_at is not null', [id])).rowCount === 1
    await until(hasEnded, 'the end of the scan', { ms: SCAN_MS })
  })
  const { rows: [row] } = await app.pg.query<Pick<ScanResult, 'stats' | 'problems'> & { seconds: number }>(
    `select extract(epoch from ended_at - started_at)::float8 as seconds, meta -> 'scan_stats' as stats,
      coalesce((meta ->> 'problem_count')::int, 0) as problems from tasks where id = $1`, [id])
  if (row === undefined) throw new Error(`There is no task ${id}`)
  await app.close()
  return { ...timing, ...row }
})
