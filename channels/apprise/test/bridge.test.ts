import { DeliveryRefusedError, HttpStatusError, InvalidSettingsError, ServiceDownError } from '@svc/plugin-sdk'
import { createNotification, createPluginContext, type PlannedResponse } from '@svc/plugin-sdk/testing'
import t from 'tap'
import channel from '../src/index.ts'
import { SERVICES } from '../src/services/index.ts'
import { SAMPLE } from './cases.ts'

const { definition } = channel
const config = { apiUrl: 'http://apprise.example:8000/' }
const DETAILS = 'http://apprise.example:8000/details'
const NOTIFY = 'http://apprise.example:8000/notify'

const token = (name: string, more: object = {}) => ({ name, type: 'string', required: false, private: false, ...more })
const entry = (name: string, schemas: string[], more: object = {}) => ({
  service_name: name,
  setup_url: `https://example.com/${name}`,
  protocols: null,
  secure_protocols: schemas,
  details: { templates: ['{schema}://{token}'], tokens: { token: token('Token', { private: true }) }, args: {}, kwargs: {} },
  ...more
})

/** The response of an Apprise API server: one new service, and services that must not be offered. */
const details: PlannedResponse = {
  url: DETAILS,
  json: {
    version: '1.9',
    schemas: [
      entry('MQTT', ['mqtts'], {
        protocols: ['mqtt'],
        details: {
          templates: ['{schema}://{host}/{topic}', '{schema}://{user}:{password}@{host}:{port}/{topic}'],
          tokens: {
            schema: { name: 'Schema', type: 'choice:string', values: ['mqtt', 'mqtts'], required: true },
            host: token('Hostname', { required: true }),
            port: { name: 'Port', type: 'int', min: 1, max: 65535 },
            user: token('Username'),
            password: token('Password', { private: true }),
            topic: token('Topic', { map_to: 'targets' }),
            target_unused: token('Unused')
          },
          args: {
            qos: { name: 'QOS', type: 'int', default: 0, min: 0, max: 2 },
            version: { name: 'Version', type: 'choice:string', values: ['v3.1.1', 'v5'], default: 'v3.1.1' },
            level: { name: 'Level', type: 'choice:int', values: { 0: 'low', 1: 'high' }, default: 0 },
            to: { alias_of: 'topic' },
            format: { name: 'Format', type: 'choice:string', values: ['text'], default: 'text' },
            tz: { name: 'Timezone', type: 'string' },
            keyfile: { name: 'Key', type: 'string', private: true },
            ca: { name: 'CA File', type: 'string' }
          },
          kwargs: { headers: { name: 'HTTP Header', prefix: '+' } }
        }
      }),
      entry('Join', ['join']),
      entry('Discord', ['discord']),
      ...['syslog', 'dbus', 'windows', 'gnome', 'macosx', 'blink1', 'fcm'].map((schema) => entry(schema, [schema])),
      entry('Off', ['off'], { enabled: false }),
      { service_name: 'Broken', protocols: 7, details: null },
      'nonsense'
    ]
  }
}
const settings = {
  service: 'mqtt', fields: { schema: 'mqtts', host: 'mq.example', port: 8883, user: 'ada', password: 'p@ss/word', topic: 'games', qos: 1 }
}
const URL_TEXT = 'mqtts://ada:p%40ss%2Fword@mq.example:8883/games?qos=1'

t.test('services that are not built in are added, except those that act locally', async (t) => {
  const ctx = createPluginContext(channel, { t, config, responses: [details] })
  const services = await definition.services?.(ctx) as { id: string, fields: { key: string }[] }[]
  t.equal(ctx.requests[0]?.headers.accept, 'application/json')
  const own = SERVICES.map(({ id }) => id)
  t.same(services.map(({ id }) => id).filter((id) => !own.includes(id)).sort(), ['join', 'mqtt'])
  t.equal(services.filter(({ id }) => id === 'discord').length, 1)
  const mqtt = services.find(({ id }) => id === 'mqtt')
  t.same(mqtt?.fields.map(({ key }) => key),
    ['schema', 'host', 'topic', 'user', 'password', 'port', 'qos', 'version', 'level', 'headers'])
  t.match(mqtt, {
    name: 'MQTT',
    setup_url: 'https://example.com/MQTT',
    fields: [
      { key: 'schema', type: 'choice', values: ['mqtt', 'mqtts'], default: 'mqtts' },
      { key: 'host', required: true, advanced: false }, {}, {}, { key: 'password', private: true }, { type: 'int', max: 65535 },
      { key: 'qos', type: 'int', default: 0, min: 0, max: 2, advanced: true }, { values: ['v3.1.1', 'v5'] },
      { key: 'level', type: 'choice', values: ['0', '1'], default: '0' }, { key: 'headers', type: 'list', private: true }
    ]
  })
})

t.test('the bridge\'s services are cached for an hour', async (t) => {
  const ctx = createPluginContext(channel, { t, config, responses: [details] })
  await definition.services?.(ctx)
  await definition.services?.(ctx)
  t.equal(ctx.requests.length, 1)
})

t.test('built-in services are offered when the bridge fails, with a warning', async (t) => {
  for (const answer of [{ error: 'timeout' as const }, { status: 500 }, { text: '<html>' }, { json: { schemas: [] } }]) {
    const ctx = createPluginContext(channel, { t, config, responses: [{ url: DETAILS, ...answer }] })
    t.equal((await definition.services?.(ctx))?.length, SERVICES.length)
    t.match(ctx.logs, [{ level: 'warn', message: /only the built-in services are offered/ }])
  }
})

t.test('a delivery sends one URL in the body of one call', async (t) => {
  const answer = { url: NOTIFY, json: { error: null, details: [] } }
  const ctx = createPluginContext(channel, { t, config, responses: [details, answer] })
  await definition.check?.(settings, ctx)
  await definition.deliver(createNotification(SAMPLE), settings, ctx)
  const { method, url, headers, body } = ctx.requests[1] ?? { body: '' }
  t.same({ method, url, headers }, { method: 'POST', url: NOTIFY, headers: { accept: 'application/json' } })
  t.same(JSON.parse(body), {
    urls: URL_TEXT,
    title: 'Scan failed',
    body: 'Disk 1/2 is *full* & <read-only>; tell @\u200beveryone\n\nhttps://svc.example/scan',
    type: 'failure',
    format: 'text'
  })
  t.notMatch(JSON.stringify(ctx.logs), 'p@ss')
})

t.test('each status of the bridge is interpreted', async (t) => {
  const log = { error: 'Not all were sent', details: [['INFO', '', 'Loading'], ['WARNING', '', `Failed ${URL_TEXT}`]] }
  const failWith = async (answer: Partial<PlannedResponse>) => {
    const ctx = createPluginContext(channel, { config, responses: [details, { url: NOTIFY, ...answer }] })
    return definition.deliver(createNotification(), settings, ctx).then(() => null, (err: unknown) => err)
  }
  const failed = await failWith({ status: 424, json: log })
  t.ok(failed instanceof HttpStatusError)
  t.match(failed, { message: 'MQTT answered 424: Failed mqtts://ada:***@mq.example:8883/games?qos=1; try again later' })
  t.ok(await failWith({ status: 204 }) instanceof DeliveryRefusedError)
  for (const status of [400, 405, 406, 421, 431]) {
    t.match(await failWith({ status }), { name: 'HttpStatusError', message: /check the fields/ }, String(status))
  }
  t.ok(await failWith({ status: 500 }) instanceof ServiceDownError)
})

t.test('a failing bridge is temporary, an unconfigured one is permanent', async (t) => {
  const down = createPluginContext(channel, { config, responses: [{ url: DETAILS, status: 503 }] })
  await t.rejects(definition.deliver(createNotification(), settings, down), ServiceDownError)
  const none = createPluginContext(channel)
  await t.rejects(definition.deliver(createNotification(), settings, none), InvalidSettingsError)
  const up = createPluginContext(channel, { config, responses: [details] })
  await t.rejects(definition.deliver(createNotification(), { service: 'gone', fields: {} }, up),
    { name: 'InvalidSettingsError', message: /no service 'gone'/ })
})

t.test('URLs of the bridge\'s services are parsed with the bridge', async (t) => {
  const ctx = createPluginContext(channel, { t, config, responses: [details] })
  t.same(await definition.parse?.(URL_TEXT, ctx), { ...settings, warnings: [] })
  t.same(await definition.parse?.('mqtt://mq.example/a?to=b&+X-A=1', ctx),
    { service: 'mqtt', fields: { schema: 'mqtt', host: 'mq.example', topic: 'b', headers: ['X-A=1'] }, warnings: [] })
  t.equal(await definition.parse?.('syslog://localhost', ctx), null)
  await t.rejects(async () => definition.parse?.('mqtt://mq.example/a?keyfile=/etc/passwd', ctx), { message: /local file/ })
  t.equal(definition.parse?.(URL_TEXT), null)
})

t.test('a bridged channel shows only its host when the bridge is missing', async (t) => {
  t.equal(await definition.describe(settings), 'mqtts://mq.example/***')
  t.equal(await definition.describe({ service: 'join', fields: { token: 'secret' } }), 'join://***')
  t.same(await definition.secretKeys?.(settings), ['user', 'password', 'topic', 'qos'])
  const { service, fields } = settings
  const reversed = Object.fromEntries(Object.entries(fields).reverse())
  t.equal(await definition.destination?.({ service, fields: reversed }), await definition.destination?.(settings))
  const elsewhere = { service, fields: { ...fields, qos: 2 } }
  t.not(await definition.destination?.(elsewhere), await definition.destination?.(settings),
    'any change may lead elsewhere')
})
