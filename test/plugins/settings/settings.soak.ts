import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { buildApp } from '../../../core/app.ts'
import { readPluginConfig } from '../../../core/loader/settings/plugin-config.ts'
import { changeStoredValues } from '../../../core/loader/settings/stored-settings.ts'
import { buildTestApp } from '../../support.ts'
import { features } from '../../../plugins/index.ts'
import { until } from '../../until.ts'
import { SCAN, open, openPlugin } from './settings-support.ts'

t.test('a setting that a variable overrides is not changed in the file', async (t) => {
  const test = await buildTestApp(t, { env: { SCAN_REGION_PRIORITY: 'jp,us' } })
  const { call, show, text } = open(test)
  t.match(await call('PUT', 'scan', { ...SCAN, region_priority: ['eu'] }),
    { status: 409, body: { detail: /^scan\.priority\.region is set by the variable SCAN_REGION_PRIORITY / } })
  t.equal((await call('PUT', 'scan', { ...SCAN, region_priority: ['jp', 'us'] })).status, 200, 'saying the same is no change')
  t.same((await show()).SCAN_REGION_PRIORITY, ['jp', 'us'])
  t.equal(parse(await text()).scan.priority.region, undefined)
})

/** Starts a service that records the keys which requests bring. */
async function startService (t: Pick<Test, 'teardown'>) {
  const keys: (string | undefined)[] = []
  const server = createServer((request, response) => {
    keys.push(request.headers['x-client-api-key']?.toString())
    response.writeHead(200, { 'content-type': 'application/json' }).end('[{"name": "Game Boy"}]')
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { server.close() })
  return { keys, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

t.test('stored settings of a provider apply at once and after a restart', async (t) => {
  const test = await buildTestApp(t, { worker: true })
  const { url } = await startService(t)
  const { call, test: askProvider } = openPlugin(test, 'provider/hasheous')
  t.match(await askProvider(), { answers: false, problem: /HASHEOUS_API_ENABLED/ })
  const stored = await call('PUT', { enabled: true, baseUrl: url, clientApiKey: 'hunter2' })
  t.match(stored, { status: 200, body: { values: { enabled: true, baseUrl: url }, stored_secrets: ['clientApiKey'], fixed: {} } })
  t.notMatch((await call('GET')).text, /hunter2/, 'no secret is sent back')
  t.ok(test.worker?.registry.providers.has('hasheous'), 'the scan worker calls the provider')
  await until(() => test.app.registry.providers.has('hasheous'), 'web workers offer the provider')
  t.match(await askProvider(), { answers: true, problem: null })
  const [row] = (await test.app.pg.query<{ sealed: string }>('select sealed from plugin_settings')).rows
  t.notMatch(row?.sealed ?? '', /hunter2/)
  const later = await buildApp({
    config: test.config, role: 'web', workerNumber: 2, databaseUrl: test.databaseUrl, logger: test.app.log as never, features
  })
  t.teardown(() => later.close())
  await later.ready()
  t.ok(later.registry.providers.has('hasheous'), 'a process that starts later has the settings')
  t.match(await call('DELETE'), { status: 200, body: { values: {}, stored_secrets: [] } })
  await until(() => !later.registry.providers.has('hasheous'), 'the provider is off again')
  t.notOk(test.worker?.registry.providers.has('hasheous'))
})

t.test('a stored setting that a newer plugin refuses can be corrected', async (t) => {
  const test = await buildTestApp(t)
  await changeStoredValues(test.app.pg, test.app.secrets, 'provider/hasheous', () => ({ enabled: true, baseUrl: 5 }))
  const app = await buildApp({
    config: test.config, role: 'web', workerNumber: 2, databaseUrl: test.databaseUrl, logger: test.app.log as never, features
  })
  t.teardown(() => app.close())
  await app.ready()
  const find = () => app.registry.records.find(({ key }) => key === 'hasheous')
  t.match(find(), { status: 'failed', reason: /^its setting baseUrl: 5 is not a text .+; correct it in the settings of the plugin$/ })
  const { call } = openPlugin({ app, admin: test.admin }, 'provider/hasheous')
  t.match(await call('GET'), { status: 200, body: { values: { enabled: true, baseUrl: 5 } } })
  t.match(await call('PUT', { enabled: true }), { status: 200, body: { values: { enabled: true } } })
  t.match(find(), { status: 'active', reason: null })
})

t.test('a stored key is not sent to another address unless it is entered again', async (t) => {
  const test = await buildTestApp(t, { worker: true })
  const [former, other] = [await startService(t), await startService(t)]
  const { call, test: askProvider } = openPlugin(test, 'provider/hasheous')
  await call('PUT', { enabled: true, baseUrl: former.url, clientApiKey: 'hunter2' })
  const refused = await call('PUT', { enabled: true, baseUrl: other.url })
  t.match(refused, { status: 422, body: { detail: [{ loc: ['body', 'clientApiKey'], msg: /Enter 'clientApiKey' again, because 'baseUrl' changes/ }] } })
  await askProvider()
  t.same(other.keys, [])
  t.equal((await call('PUT', { enabled: true, baseUrl: former.url })).status, 200, 'without another address the key stays')
  t.match(await call('GET'), { body: { stored_secrets: ['clientApiKey'] } })
  t.equal((await call('PUT', { enabled: true, baseUrl: other.url, clientApiKey: 'other key' })).status, 200)
  await askProvider()
  t.notOk(other.keys.includes('hunter2'))
})

t.test('settings of the operator win over stored ones and cannot be changed there', async (t) => {
  Object.assign(process.env, { HASHEOUS_CLIENT_API_KEY: 'hunter2' })
  t.teardown(() => { Reflect.deleteProperty(process.env, 'HASHEOUS_CLIENT_API_KEY') })
  const test = await buildTestApp(t)
  const { call } = openPlugin(test, 'provider/hasheous')
  t.match(await call('GET'), { body: { values: {}, stored_secrets: [], fixed: { clientApiKey: 'HASHEOUS_CLIENT_API_KEY' } } })
  t.match(await call('PUT', { clientApiKey: 'x' }), { status: 422, body: { detail: [{ msg: /fixed by HASHEOUS_CLIENT_API_KEY/ }] } })
  t.match(await call('PUT', { baseUrl: 'http://10.0.0.1' }), { status: 422, body: { detail: [{ loc: ['body', 'baseUrl'], msg: /set both there/ }] } })
  t.match(await call('PUT', { enabled: true }), { status: 200, body: { values: { enabled: true } } })
  Reflect.deleteProperty(process.env, 'HASHEOUS_CLIENT_API_KEY')
  t.equal((await call('PUT', { enabled: true, baseUrl: 'http://10.0.0.1' })).status, 200, 'without a secret any address')
  Object.assign(process.env, { HASHEOUS_CLIENT_API_KEY: 'hunter2' })
  t.match(await call('GET'), { body: { values: { enabled: true, baseUrl: undefined } } }, 'a later secret is not sent to a stored address')
  const { definition } = test.app.registry.providers.get('hasheous') ?? {}
  const stored = test.app.pluginSettings.of('provider', 'hasheous')
  t.equal(stored.baseUrl, 'http://10.0.0.1')
  t.match(definition && readPluginConfig('provider', { ...definition, stored }, test.config),
    { status: 'ready', value: { baseUrl: 'https://hasheous.org/api/v1', clientApiKey: 'hunter2' }, origins: [] })
})
