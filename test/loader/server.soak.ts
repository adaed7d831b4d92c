import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type PluginPackage, listPluginPackages } from '../../core/loader/packages/packages.ts'
import { buildTestApp } from '../support.ts'
import { installFixtures } from './install.ts'

interface PluginRow { package: string, status: string, reason: string | null, seen_by: string }

t.test('the server starts and works with every broken plugin', async (t) => {
  // The loader's own tests cover a plugin that hangs in its import, with a shorter limit.
  const apart = ['good-provider', 'hangs-on-import']
  const others = readdirSync(new URL('fixtures/', import.meta.url)).filter((name) => !apart.includes(name))
  const fixtures = ['good-provider', ...others]
  const dataDir = installFixtures(t, fixtures)
  // Only working plugins get their own processes, because processes for all would take long.
  const packages = listPluginPackages(dataDir, join(dataDir, 'no-server')).map((pack): PluginPackage =>
    /good-|closes|in-close|in-setup/.test(pack.name) ? pack : { ...pack, origin: 'built-in' })
  const { app, admin, createUser } = await buildTestApp(t, { packages, worker: true })

  const reply = await app.inject({ url: '/api/plugins', headers: admin })
  t.equal(reply.statusCode, 200)
  const rows = reply.json<PluginRow[]>()
  t.equal(rows.length, fixtures.length)
  t.same(rows.filter(({ status }) => status === 'active').map((row) => row.package).sort(), [
    'svc-channel-good-channel', 'svc-exporter-good-exporter', 'svc-provider-closes', 'svc-provider-good-provider',
    'svc-provider-throws-in-close'
  ])
  t.ok(rows.every(({ status, reason }) => (status === 'active') === (reason === null)), 'whoever is left out says why')
  t.ok(rows.every((row) => row.seen_by === 'worker'))
  t.equal(rows.find((row) => row.package === 'svc-provider-throws-in-setup')?.status, 'failed',
    'only the worker sets it up, so only the worker knows')

  t.equal((await app.inject({ url: '/api/plugins', headers: await createUser('alice') })).statusCode, 403)
  const heartbeat = await app.inject({ url: '/api/heartbeat' })
  t.match(heartbeat.json(), { METADATA_SOURCES: { GOOD_ENABLED: true, MISSING_CONFIG_API_ENABLED: false } })
  t.equal((await app.inject({ url: '/api/health/ready' })).statusCode, 200)
  const { components } = (await app.inject({ url: '/openapi.json' })).json()
  t.match(JSON.stringify(components.schemas), /"shelf":\{[^}]*"type":"string"/, 'the metadata of a plugin is documented')
})

t.test('without a scan worker the web server reports its own view of the plugins', async (t) => {
  const dataDir = installFixtures(t, ['throws-in-setup', 'no-manifest'])
  const { app, admin } = await buildTestApp(t, { packages: listPluginPackages(dataDir, join(dataDir, 'no-server')) })
  const reply = await app.inject({ url: '/api/plugins', headers: admin })
  t.match(reply.json(), [
    { package: 'svc-provider-throws-in-setup', status: 'active', reason: null, seen_by: 'web' },
    { package: 'svc-provider-no-manifest', kind: null, status: 'failed', reason: /no "svc" key/, seen_by: 'web' }
  ])
})
