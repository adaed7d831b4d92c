import { join } from 'node:path'
import type { Rom } from '@svc/plugin-sdk'
import t from 'tap'
import { buildApp } from '../../core/app.ts'
import type { PluginPackage } from '../../core/loader/packages/packages.ts'
import { features } from '../../plugins/index.ts'
import { buildTestApp } from '../support.ts'

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
