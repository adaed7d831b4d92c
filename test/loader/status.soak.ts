import type { PluginPackage } from '../../core/loader/packages/packages.ts'
import { join } from 'node:path'
import type { Rom } from '@svc/plugin-sdk'
import t from 'tap'
import { buildApp } from '../../core/app.ts'
import { findInstalled } from '../../core/loader/inspection/installed.ts'
import { lockDataDir } from '../../core/supervisor/lock.ts'
import { writeServerState } from '../../core/supervisor/server-state.ts'
import { features } from '../../plugins/index.ts'
import { createUsedDataDir, runSvc, settings } from '../e2e/server.ts'
import { until } from '../until.ts'
import { buildTestApp } from '../support.ts'
import { installInto } from './install.ts'
import { install } from './troublemaker.ts'

const FIXTURES = ['good-provider', 'throws-in-setup']
const SETUP = 'svc-provider-throws-in-setup'

t.test('a web worker learns the scan worker\'s plugin states, in either start order', async (t) => {
  const { packages } = install(t, FIXTURES)
  const test = await buildTestApp(t, { packages })
  const statusOf = (key: string) => test.app.registry.records.find((record) => record.package === key)?.status
  t.equal(statusOf(SETUP), 'active', 'nobody has set it up yet')
  t.ok(test.app.registry.providers.has('throws-in-setup'))

  const { config, databaseUrl, app: { log: logger } } = test
  const worker = await buildApp({ config, role: 'worker', databaseUrl, logger: logger as never, features, packages })
  t.teardown(() => worker.close())
  await worker.ready()
  await until(async () => statusOf(SETUP) === 'failed', 'the web worker to hear of it')
  t.match(test.app.registry.records.find((record) => record.package === SETUP)?.reason, /^its setup throws: /)
  t.notOk(test.app.registry.providers.has('throws-in-setup'), 'what is left out there is no source here')
  t.ok(test.app.registry.providers.has('good-provider'), 'what works there is one')

  const later = await buildApp({
    config, role: 'web', workerNumber: 2, databaseUrl, logger: logger as never, features, packages
  })
  t.teardown(() => later.close())
  await later.ready()
  t.notOk(later.registry.providers.has('throws-in-setup'))
})

t.test('a process that starts later works with the plugins of the start of the server', async (t) => {
  const { config, databaseUrl, app: { log } } = await buildTestApp(t, { packages: [] })
  installInto(config.data_dir, ['good-exporter'])
  const installed = findInstalled(config.data_dir)
  const options = { config, databaseUrl, logger: log as never, features, installed, workerNumber: 2 }
  const build = async (role: 'web' | 'worker') => {
    const app = await buildApp({ ...options, role })
    t.teardown(() => app.close())
    await app.ready()
    return app
  }
  const statusesOf = ({ registry }: Awaited<ReturnType<typeof build>>) => registry.records
    .filter(({ origin }) => origin === 'community').map(({ key, status, reason }) => ({ key, status, reason }))
  const web = await build('web')
  t.match(statusesOf(web), [{ key: 'good-exporter', status: 'active' }])
  installInto(config.data_dir, ['good-channel'])

  const worker = await build('worker')
  const expected = [
    { key: 'good-exporter', status: 'failed', reason: 'it was updated or removed after the start of the server; restart the server' }
  ]
  t.same(statusesOf(worker), expected)
  await until(async () => statusesOf(web)[0]?.status === 'failed', 'the web worker to hear of it')
  t.same(statusesOf(web), expected)
  t.same(statusesOf(await build('web')), expected, 'the description of the plugin is still stored')
})

t.test('svc plugins reports the running scan worker\'s states and runs no plugin', async (t) => {
  const { app, config, databaseUrl } = await buildTestApp(t, { worker: true })
  const lock = lockDataDir(config.data_dir)
  t.teardown(() => { lock?.release() })
  writeServerState(config.data_dir, {
    pid: process.pid, started_at: new Date().toISOString(), url: null, port: null, database_url: databaseUrl
  })
  // A value that no other process could produce.
  await app.pg.query("update plugin_snapshots set reports = jsonb_set(reports, '{0,record,reason}', '\"seen by the worker\"')")
  const { output, code } = await runSvc(t, ['plugins', '--json'], settings(createUsedDataDir(config.data_dir))).ended
  const rows = output.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
  t.equal(code, 0)
  t.match(rows[0], { reason: 'seen by the worker' })
  t.same(rows.slice(1), app.registry.records.slice(1))

  installInto(config.data_dir, ['good-provider'])
  const { output: later } = await runSvc(t, ['plugins'], settings(config.data_dir)).ended
  t.match(later, /provider +good.* +svc-provider-good-provider +active/, 'what it does not have yet is looked at')
})

t.test('a web worker runs no code of a plugin, not even to describe it', async (t) => {
  const { config, databaseUrl, app: { log: logger } } = await buildTestApp(t, { packages: [] })
  const folder = t.testdir({
    'index.js': `import { defineProvider } from '@svc/plugin-sdk'
      globalThis.hasRun = true
      export default defineProvider({ key: 'noted', name: 'Noted', id: 'string', async identify () { return undefined } })`
  })
  const pack: PluginPackage = {
    folder, name: 'svc-provider-noted', version: '1.0.0', manifest: { kind: 'provider', key: 'noted', sdk: '^2' },
    entry: join(folder, 'index.js'), origin: 'built-in', problem: null
  }
  const web = await buildApp({
    config, role: 'web', workerNumber: 2, databaseUrl, logger: logger as never, features, packages: [pack]
  })
  t.teardown(() => web.close())
  await web.ready()
  const { definition } = web.registry.providers.get('noted') ?? {}
  t.equal(definition?.name, 'Noted')
  t.throws(() => definition?.identify?.({} as Rom, {} as never), { message: /called in the scan worker only/ })
  t.notOk('hasRun' in globalThis)
})
