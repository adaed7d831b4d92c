import { hash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createSecrets } from '../../core/access/secrets.ts'
import { removeSettings, setSettings } from '../../core/config/environment.ts'
import { StartError } from '../../core/errors.ts'
import { installAlone, installSharedPackages, withPackages } from '../../core/loader/packages/install-shared.ts'
import { readSharedPackages, storeSharedPackage } from '../../core/loader/packages/shared-packages.ts'
import { examineHosts } from '../../plugins/doctor/hosts.ts'
import { features } from '../../plugins/index.ts'
import { addPlugin, removePlugin } from '../../plugins/plugins/npm.ts'
import { loadConfig } from '../load-config.ts'
import { buildTestApp, createTestDatabase } from '../support.ts'
import { until } from '../until.ts'

// The plugins of all hosts on one host, with an npm that hangs or none. Soak tests run several hosts and npm itself.

const KEY = 'a key of all hosts'
const secrets = createSecrets(KEY)
const sha256OfNothing = hash('sha256', '')
const folder = t.testdir({ damaged: { plugins: { 'package.json': '' } }, file: { plugins: 'no folder' }, bin: {} })
/** The time for which an installation waits for another one. */
const LOCK_MS = 60_000
const started = join(folder, 'started')
const ended = join(folder, 'ended')

/** Makes all that runs npm during this test run a script. */
function replaceNpm (t: Test, script: string): void {
  const { PATH } = process.env
  t.teardown(() => { process.env.PATH = PATH })
  writeFileSync(join(folder, 'bin', 'npm'), `#!/bin/sh\n${script}`)
  chmodSync(join(folder, 'bin', 'npm'), 0o700)
  process.env.PATH = `${join(folder, 'bin')}${delimiter}${PATH ?? ''}`
}

const database = await createTestDatabase(t)

function hostOf (name: string): Record<string, string> {
  const dataDir = join(folder, name)
  mkdirSync(dataDir, { recursive: true })
  return { SVC_DATABASE_URL: database, SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: KEY }
}

/** Runs a command as if the variables of this process were those of the host. */
async function asHost<T> (name: string, command: () => Promise<T>): Promise<T> {
  setSettings(hostOf(name))
  try {
    return await command()
  } finally {
    removeSettings()
  }
}

async function emptyPackages (t: Test): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('delete from plugin_packages')
  return client
}

t.test('a server starts although the package.json of its plugins is damaged', async (t) => {
  await emptyPackages(t)
  const { app, config } = await buildTestApp(t, { databaseUrl: database, env: hostOf('damaged'), withoutAdmin: true })
  t.equal((await app.inject('/api/heartbeat')).statusCode, 200)
  const findProblem = async () => (await examineHosts({ config }, app.pg)).find(({ status }) => status === 'warn')?.message
  t.match(await until(findProblem, 'the problem'), /damaged\/plugins\/package\.json cannot be read: .*\. Correct or delete it\.$/)
  await app.pg.query("update workers set plugins_problem = E'npm: \\x1b[2J'")
  t.match(await findProblem(), /: npm: {2}\[2J$/, 'a quoted control character does not reach the terminal')
})

t.test('npm has ended when the process that ran it closes', async (t) => {
  const client = await emptyPackages(t)
  // It waits for the registry, and needs a moment to end.
  replaceNpm(t, `trap 'sleep 0.5; echo > ${ended}; exit 1' TERM\necho > ${started}\nwhile :; do sleep 0.1; done`)
  await storeSharedPackage(client, secrets, { name: 'a', version: '1.0.0', sha256: sha256OfNothing }, Buffer.alloc(0))
  const { app } = await buildTestApp(t, { databaseUrl: database, env: hostOf('closing'), withoutAdmin: true })
  await until(() => existsSync(started), 'npm')
  await app.close()
  t.ok(existsSync(ended))
})

t.test('a process that closes does not wait for the installation of another host', async (t) => {
  const client = await emptyPackages(t)
  await storeSharedPackage(client, secrets, { name: 'a', version: '1.0.0', sha256: sha256OfNothing }, Buffer.alloc(0))
  const closing = new AbortController()
  await installAlone(client, async () => {
    const installed = installSharedPackages(loadConfig(hostOf('waiting')).config, closing.signal)
    const waits = async () => (await client.query(`select 1 from pg_stat_activity
      where wait_event = 'advisory' and datname = current_database()`)).rowCount === 1
    await until(waits, 'a host that waits')
    closing.abort()
    const abortedAt = performance.now()
    t.match(await installed, { changed: [], problem: String })
    t.ok(performance.now() - abortedAt < LOCK_MS / 2)
  })
})

t.test('an installation that another one keeps waiting says so', async (t) => {
  const client = await emptyPackages(t)
  await installAlone(client, async () => {
    const second = withPackages(database, (other) => installAlone(other, async () => null, { waitMs: 100 }))
    await t.rejects(second, new StartError('Another host has installed plugins for 0.1 s. Wait until it has finished, then try again.'))
  })
})

t.test('a failed installation reports its reason although its connection was lost', async (t) => {
  const client = await emptyPackages(t)
  const failed = withPackages(database, (session) => installAlone(session, async () => {
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'svc plugins' and datname = current_database()`)
    throw new StartError('the reason')
  }))
  await t.rejects(failed, { message: 'the reason' })
})

t.test('a package that another key signed can be removed', async (t) => {
  const client = await emptyPackages(t)
  await storeSharedPackage(client, createSecrets('another key'), { name: 'a', version: '1.0.0', sha256: sha256OfNothing }, Buffer.alloc(0))
  t.equal(await asHost('removing', () => removePlugin(features, 'a')), 0)
  t.strictSame(await readSharedPackages(client, secrets), { packages: [{ name: 'a', version: null, sha256: '' }], refused: [] })
})

t.test('a command deletes the folder in which an interrupted one packed', async (t) => {
  await emptyPackages(t)
  replaceNpm(t, 'exit 1')
  const former = join(folder, 'packing', 'plugins', '.pack-former')
  mkdirSync(former, { recursive: true })
  await t.rejects(asHost('packing', () => addPlugin(features, 'a')), { message: /^npm ended with code 1/ })
  t.notOk(existsSync(former))
})

t.test('a folder of plugins that cannot be used is not blamed on the database', async (t) => {
  await emptyPackages(t)
  await t.rejects(asHost('file', () => addPlugin(features, 'a')), {
    message: /^The folder of plugins cannot be used: .*file\/plugins.*\. Check its permissions and the free space\.$/
  })
})
