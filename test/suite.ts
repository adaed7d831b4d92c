import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../core/database/database.ts'
import { startEmbeddedPostgres } from '../core/postgres/embedded.ts'
import { SERVER_ROLE } from '../core/postgres/server-role.ts'
import { migrateJobs } from '../core/jobs/boss.ts'
import { inspectPlugins } from '../core/loader/inspection/inspect.ts'
import { listPluginPackages } from '../core/loader/packages/packages.ts'
import { fingerprintOf, storeDescriptions } from '../core/loader/inspection/snapshot.ts'
import { SERVER_DIR } from '../core/server-dir.ts'
import { stripCode, strippedFlags } from '../core/loader/packages/strip-types.ts'
import { CACHE_DIR, SHIPPED_DIR, findBundle } from '../plugins/console/bundle/bundle.ts'
import { makeBundle } from '../plugins/console/bundle/make-bundle.ts'
import { features } from '../plugins/index.ts'
import { loadConfig } from './load-config.ts'
import { USED_DATA_DIR } from './e2e/server.ts'
import { expandFolders, listSoakFiles, listTestFiles, writeGroups } from './grouped/write-groups.ts'
import { superuserUrl } from './superuser.ts'

/**
 * Runs the suite on one embedded database server. Every test process creates its databases from a migrated template,
 * because processes run side by side.
 */

/** The option that runs the long tests beside the features in place of the suite. */
const SOAK = '--soak'

/** Modules that are loaded before those that tap adds to the command line. */
const PRELOADED = ['./test/note-nothing.js', './test/compare-whole-lists.js'].map((file) => `--import=${file}`).join(' ')
const PRELOAD = `--test-env=NODE_OPTIONS=${process.env.NODE_OPTIONS ?? ''} ${PRELOADED}`

function runTap (args: string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const tap = join(SERVER_DIR, 'node_modules', 'tap', 'dist', 'esm', 'run.mjs')
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [tap, ...args], {
      stdio: 'inherit', cwd: SERVER_DIR, env: { ...process.env, ...env }
    })
    child.on('exit', (code) => { resolve(code ?? 1) })
  })
}

/**
 * True if tap is built with the plugins of .taprc. tap comes with all its plugins compiled in, so a build must remove
 * those that .taprc disables.
 */
function isTapAsConfigured (): boolean {
  const compiled = readFileSync(join(SERVER_DIR, 'node_modules', '@tapjs', 'test', 'test-built', 'dist', 'esm', 'index.js'), 'utf8')
  const off = [...readFileSync(join(SERVER_DIR, '.taprc'), 'utf8').matchAll(/"!(@tapjs\/[a-z-]+)"/g)].map((match) => match[1])
  return off.every((name) => !compiled.includes(`from "${name}"`))
}

/**
 * Makes the bundle of the web pages if a source changed. The lock under which servers make it is one of their database,
 * and each test has its own.
 */
async function prepareBundle (): Promise<void> {
  const found = await findBundle([SHIPPED_DIR, CACHE_DIR])
  if (found?.isFresh !== true) await makeBundle(CACHE_DIR)
}

// In a separate process, beside the work that this one does before the first file runs.
const built = isTapAsConfigured() ? null : runTap(['build'])
await prepareBundle()
const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
const server = await startEmbeddedPostgres({
  dataDir: join(folder, 'db'),
  log: () => {},
  // The data need not survive a power cut, and is too short-lived for autovacuum.
  settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off', max_connections: '400' }
})

/** Loads the modules that the server loads at first use. */
const loadLater = () => Promise.all([
  import('../plugins/scans/run/run-scan.ts'), import('../plugins/entries/lstat-thread.ts'),
  // The modules of the hashing process and its threads, except their entries, which would start to work.
  import('../plugins/hashing/threads/pool.ts'), import('../plugins/hashing/hash-file.ts'),
  import('../plugins/hashing/retroachievements/hash.ts'), import('../core/http/agent.ts'), import('pg-boss'), import('jose')
])

async function asSuperuser (database: string, statements: readonly string[]): Promise<void> {
  const url = new URL(superuserUrl(join(folder, 'db'), server.url))
  url.pathname = database
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  for (const sql of statements) await client.query(sql)
  await client.end()
}

async function createTemplate (): Promise<void> {
  // Password authentication would cost time on each of the tests' thousands of connections.
  writeFileSync(join(folder, 'db', 'pg_hba.conf'), 'host all all 127.0.0.1/32 trust\nlocal all all trust\n')
  await asSuperuser('/postgres', ['select pg_reload_conf()', `create database svc_template owner ${SERVER_ROLE}`,
    `grant set on parameter session_replication_role, deadlock_timeout to ${SERVER_ROLE}`])
  await asSuperuser('/svc_template', [`grant execute on function pg_stat_file(text, boolean) to ${SERVER_ROLE}`,
    `grant select on pg_statistic to ${SERVER_ROLE}`])
  const url = new URL(server.url)
  url.pathname = '/svc_template'
  await migrate({ url: url.href, poolSize: 1, ...await features.loadTables() })
  await migrateJobs(url.href, (err) => { throw err })
  const { config } = loadConfig({ SVC_DATA_DIR: folder, SVC_LOG_LEVEL: 'silent' })
  const packages = listPluginPackages(folder)
  const { descriptions } = await inspectPlugins({ config, runsPlugins: false, packages })
  const template = new pg.Client({ connectionString: url.href })
  await template.connect()
  await storeDescriptions(template, fingerprintOf(packages), descriptions)
  await template.end()
}

try {
  await Promise.all([createTemplate(), loadLater(), stripCode(USED_DATA_DIR)])
  // All of the server is loaded by now.
  flushCompileCache()
  const args = process.argv.slice(2).filter((arg) => arg !== SOAK)
  // Named files get a process each. Files of the whole suite share processes, because each process takes seconds.
  const isWhole = args.every((arg) => arg.startsWith('-'))
  await built
  const all = process.argv.includes(SOAK) ? listSoakFiles() : listTestFiles()
  const files = isWhole ? [...args, ...writeGroups(all)] : expandFolders(args, all)
  process.exitCode = await runTap([PRELOAD, ...files], {
    SVC_TEST_DATABASE_URL: server.url, SVC_TEST_STRIPPED: strippedFlags(USED_DATA_DIR).join()
  })
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
