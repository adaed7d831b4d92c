import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createUsedDataDir, runSvc, settings } from '../../e2e/server.ts'
import { withConnection } from '../migrations/support.ts'
import { createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'

// Hosts with their own data directories share the plugins that one of them adds.

const NAME = 'svc-exporter-note'
const START_MS = 120_000

function writePlugin (folder: string, version: string): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({
    name: NAME, version, type: 'module', exports: './index.js', svc: { kind: 'exporter', key: 'note', sdk: '^2' }
  }))
  writeFileSync(join(folder, 'index.js'), `import { defineExporter } from '@svc/plugin-sdk'
    export default defineExporter({ key: 'note', name: 'Note', fileName: 'note.txt', media: {}, async render () { return '' } })`)
  return folder
}

const database = await createTestDatabase(t)

function hostOf (folder: string, name: string, more: Record<string, string> = {}) {
  const dataDir = createUsedDataDir(join(folder, name))
  const env = settings(dataDir, { SVC_DATABASE_URL: database, SVC_AUTH_SECRET_KEY: 'one key of all hosts', ...more })
  const readVersion = () => {
    const file = join(dataDir, 'plugins', 'node_modules', NAME, 'package.json')
    try {
      return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
    } catch {
      return null // the file is absent, or npm is writing it
    }
  }
  return { env, readVersion, run: (...args: string[]) => runSvc(t, args, env).ended }
}

async function startWorker (t: Test, env: Record<string, string>) {
  const command = runSvc(t, ['worker'], env)
  await until(() => command.output().includes('svc worker is ready'), 'a scan worker', { ...command, ms: START_MS })
  return command
}

const query = <Row extends object>(text: string) =>
  withConnection(database, async (client) => (await client.query<Row>(text)).rows)
const readProblem = async () => (await query<{ plugins_problem: string | null }>('select plugins_problem from workers'))[0]?.plugins_problem

t.test('a plugin that one host adds is installed, replaced and removed on the others', async (t) => {
  const folder = t.testdir({})
  const [first, second] = [hostOf(folder, 'first'), hostOf(folder, 'second')]
  t.match(await first.run('plugins', 'add', writePlugin(join(folder, 'plugin'), '1.0.0')),
    { code: 0, output: /^svc-exporter-note 1\.0\.0: active\nAll hosts of the database follow\./ })
  const command = await startWorker(t, second.env)
  t.equal(second.readVersion(), '1.0.0', 'a host installs it before it loads plugins')
  t.match(await second.run('plugins'), { code: 0, output: /note +1\.0\.0 +svc-exporter-note +active/ })
  t.equal(await readProblem(), null)

  t.match(await first.run('plugins', 'add', writePlugin(join(folder, 'plugin'), '1.1.0')), { code: 0 })
  await until(() => second.readVersion() === '1.1.0', 'the new version', { ...command, ms: START_MS })
  await until(async () => await readProblem() !== null, 'the note that the host must restart', { ...command, ms: START_MS })
  t.match(await second.run('plugins'), { output: /restart the server on this host/ })
  t.match((await second.run('doctor')).output, /The plugins of \S+ are not those of all hosts: Plugins were installed/)

  t.match(await second.run('plugins', 'remove', NAME), { code: 0, output: /^svc-exporter-note was removed\./ })
  t.equal(first.readVersion(), '1.1.0')
  command.child.kill('SIGTERM')
  await command.ended
  const again = await startWorker(t, first.env)
  t.equal(first.readVersion(), null, 'a host that was off removes it at its start')
  again.child.kill('SIGTERM')
  await again.ended
})

t.test('a package that cannot be used reaches no host, and the former version stays', async (t) => {
  const folder = t.testdir({})
  const first = hostOf(folder, 'first')
  const plugin = writePlugin(join(folder, 'plugin'), '3.0.0')
  t.match(await first.run('plugins', 'add', plugin), { code: 0 })
  const before = await query('select * from plugin_packages')
  writePlugin(plugin, '3.1.0')
  rmSync(join(plugin, 'index.js'))
  t.match(await first.run('plugins', 'add', plugin),
    { code: 1, output: /svc-exporter-note 3\.1\.0 was not installed, because it cannot be used: failed: .* build it first\. Correct it,/ })
  t.same(await query('select * from plugin_packages'), before)
  t.equal(first.readVersion(), '3.0.0')
  t.match(await first.run('plugins', 'remove', NAME), { code: 0 })
  t.match(await first.run('plugins', 'add', plugin), { code: 1 })
  t.equal(first.readVersion(), null)
})

t.test('a host refuses a package with other bytes or another signature, and runs', async (t) => {
  const folder = t.testdir({})
  const [first, second] = [hostOf(folder, 'first'), hostOf(folder, 'second')]
  t.match(await first.run('plugins', 'add', writePlugin(join(folder, 'plugin'), '2.0.0')), { code: 0 })
  await query("update plugin_packages set tarball = tarball || '\\x00'::bytea")
  const command = await startWorker(t, second.env)
  t.match(command.output(), /svc-exporter-note 2\.0\.0 could not be installed on this host: .*its SHA-256 differs/)
  t.equal(second.readVersion(), null)
  await until(async () => /SHA-256/.test(await readProblem() ?? ''), 'the problem', { ...command, ms: START_MS })

  await query("update plugin_packages set tarball = substring(tarball for length(tarball) - 1), version = '2.0.1'")
  await query("select pg_notify('svc_plugin_packages', '')")
  await until(async () => /another key of the server/.test(await readProblem() ?? ''), 'the refusal', { ...command, ms: START_MS })
  t.equal(second.readVersion(), null)

  t.match(await first.run('plugins', 'add', join(folder, 'plugin')), { code: 0 })
  // npm writes more files after the version.
  await until(async () => /restart the server/.test(await readProblem() ?? ''), 'the package that was added again', { ...command, ms: START_MS })
  t.equal(second.readVersion(), '2.0.0')
})
