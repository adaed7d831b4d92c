import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import type { Test } from 'tap'
import { buildApp } from '../../../core/app.ts'
import { type PluginPackage, listPluginPackages } from '../../../core/loader/packages/packages.ts'
import type { App } from '../../../core/typebox.ts'
import { features } from '../../../plugins/index.ts'
import { type TestApp, type TestAppOptions, buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { resetScripts } from '../fixtures/script.ts'

export type FixtureKey = 'alpha' | 'beta' | 'digest' | 'pictures' | 'vault' | 'ra' | 'shelf' | 'sleeves' | ChainKey
/** Providers that wait for one another. */
type ChainKey = 'pointer' | 'scene' | 'mirror' | 'deep' | 'late' | 'frame' | 'circle' | 'atlas'
export const ALL_FIXTURES: readonly FixtureKey[] = ['alpha', 'beta', 'digest', 'pictures']

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url))

/** Longer than any scan of a test on a busy machine, shorter than a file may take. */
const SCAN_MS = 100_000

/** Returns a scripted provider as a package that was found on disk. */
export const packageOf = (key: FixtureKey): PluginPackage => ({
  folder: FIXTURES,
  name: `svc-provider-${key}`,
  version: '1.0.0',
  manifest: { kind: 'provider', key, sdk: '^2' },
  entry: join(FIXTURES, `${key}.ts`),
  origin: 'built-in',
  problem: null
})

/** Returns a built-in provider as a package. */
function builtIn (key: string, dataDir: string): PluginPackage[] {
  return listPluginPackages(dataDir).filter((pack) => pack.name === `@svc/provider-${key}`)
}

export interface ScanTask {
  task_id: string
  status: string
  meta: { scan_stats: Record<string, number>, problems: { platform: string, path: string, reason: string }[] }
}

export interface StoredRom {
  id: number
  platform: string
  fs_name: string
  name: string
  summary: string | null
  tags: string[]
  regions: string[]
  revision: string | null
  crc_hash: string
  sha1_hash: string
  url_cover: string | null
  path_cover_large: string | null
  path_cover_small: string | null
  path_screenshots: string[]
  path_manual: string | null
  is_identified: boolean
  missing_from_fs: boolean
  /** Ids by provider. */
  ids: Record<string, string>
}

export interface ScanTest extends TestApp {
  dataDir: string
  /** Starts a scan and waits for its end. */
  scan (payload?: object): Promise<ScanTask>
  start (payload?: object): Promise<string>
  finished (taskId: string): Promise<ScanTask>
  error (taskId: string): Promise<string | null>
  /** Returns the stored ROMs of a platform folder, by name. */
  roms (folder: string): Promise<StoredRom[]>
  rom (folder: string, fsName: string): Promise<StoredRom>
  /** Returns the problems of a scan, as `path: reason`. */
  problems (task: ScanTask): string[]
  /** Writes files of the library; paths are relative to it. */
  put (files: Record<string, string | Uint8Array>): Promise<void>
  sql<Row> (text: string, values?: unknown[]): Promise<Row[]>
}

export interface ScanTestOptions extends Pick<TestAppOptions, 'env' | 'worker' | 'databaseUrl' | 'log'> {
  providers?: readonly FixtureKey[]
  /** More packages, in the form found on disk. */
  packages?: readonly PluginPackage[]
  /** Keys of built-in providers. */
  builtIns?: readonly string[]
  /** Sections of config.yml. */
  config?: Record<string, object>
}

const ROMS = `select r.id, p.fs_slug as platform, r.fs_name, r.name, r.summary, r.tags, r.regions, r.revision, r.crc_hash,
    r.sha1_hash, r.url_cover, r.path_cover_large, r.path_cover_small, r.path_screenshots, r.path_manual, r.is_identified,
    r.missing_from_fs, coalesce((select jsonb_object_agg(m.provider, m.provider_id) from rom_matches m
      where m.rom_id = r.id), '{}') as ids
  from roms r join platforms p on p.id = r.platform_id where p.fs_slug = $1 order by r.fs_name collate "C"`

const RUNNING = "select from tasks where id = $1 and status in ('queued', 'started')"

async function makeDataDir (t: Test, config: Record<string, object>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-scan-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  // Threads take longer to start than these small files to hash. JSON is YAML.
  const scan = { hash_threads: 1, ...config.scan }
  await writeFile(join(folder, 'config.yml'), JSON.stringify({ ...config, scan }))
  return folder
}

/** Builds a server with a scan worker, scripted providers and an empty library. */
export async function buildScanTest (t: Test, options: ScanTestOptions = {}): Promise<ScanTest> {
  const { providers = ALL_FIXTURES, packages = [], builtIns = [], config = {}, env = {} } = options
  const { worker = true, databaseUrl, log } = options
  const dataDir = await makeDataDir(t, config)
  t.teardown(resetScripts)
  const test = await buildTestApp(t, {
    worker,
    packages: [...providers.map(packageOf), ...packages, ...builtIns.flatMap((key) => builtIn(key, dataDir))],
    env: { SVC_DATA_DIR: dataDir, ...env },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(log === undefined ? {} : { log })
  })
  const { app, admin, libraryDir } = test

  async function start (payload?: object): Promise<string> {
    const answer = await app.inject({
      method: 'POST', url: '/api/tasks/scan', headers: admin, ...(payload === undefined ? {} : { payload })
    })
    if (answer.statusCode !== 202) throw new Error(`scan refused with ${answer.statusCode}: ${answer.body}`)
    return (answer.json() satisfies { task_id: string }).task_id
  }

  async function sql<Row> (text: string, values: unknown[] = []): Promise<Row[]> {
    return (await app.pg.query(text, values)).rows as Row[]
  }

  async function finished (taskId: string): Promise<ScanTask> {
    // A statement costs a tenth of a request, and a scan takes many checks.
    const isOver = async () => (await sql(RUNNING, [taskId])).length === 0
    await until(isOver, `the end of task ${taskId}`, { ms: SCAN_MS })
    return (await app.inject({ url: `/api/tasks/${taskId}`, headers: admin })).json()
  }

  const roms = (folder: string) => sql<StoredRom>(ROMS, [folder])

  return {
    ...test,
    dataDir,
    start,
    finished,
    sql,
    roms,
    problems: (task) => task.meta.problems.map(({ path, reason }) => `${path}: ${reason}`),
    scan: async (payload) => await finished(await start(payload)),
    error: async (taskId) => (await sql<{ error: string | null }>('select error from tasks where id = $1', [taskId]))[0]?.error ?? null,
    async rom (folder, fsName) {
      const rom = (await roms(folder)).find((one) => one.fs_name === fsName)
      if (rom === undefined) throw new Error(`No ROM '${fsName}' is stored in '${folder}'`)
      return rom
    },
    async put (files) {
      for (const [path, content] of Object.entries(files)) {
        const target = join(libraryDir, path)
        await mkdir(dirname(target), { recursive: true })
        await writeFile(target, content)
      }
    }
  }
}

/** Starts another scan worker on the database of a test. */
export async function startWorker (
  t: Test, { config, databaseUrl }: Pick<ScanTest, 'config' | 'databaseUrl'>, providers: readonly FixtureKey[]
): Promise<App> {
  const worker = await buildApp({
    config, role: 'worker', databaseUrl, logger: pino({ level: 'silent' }), features, packages: providers.map(packageOf)
  })
  t.teardown(() => worker.close())
  await worker.ready()
  return worker
}
