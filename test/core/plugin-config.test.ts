import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { loadConfig } from '../../core/config.ts'
import { nameCredentials, readPluginConfig } from '../../core/plugin-config.ts'

const schema = Type.Object({
  enabled: Type.Boolean({ default: true, env: 'DEMO_ENABLED' }),
  apiKey: Type.String({ minLength: 4, writeOnly: true, env: 'DEMO_KEY' }),
  baseUrl: Type.String({ default: 'https://demo.example/api', env: 'DEMO_URL' }),
  limits: Type.Object({ pages: Type.Integer({ default: 3 }) }, { default: {} })
})

function configOf (t: Pick<Test, 'testdir'>, yaml = '') {
  return loadConfig({ SVC_DATA_DIR: t.testdir({ 'config.yml': yaml }), SVC_AUTH_SECRET_KEY: 'a key for tests only' }).config
}
const readDemo = (t: Pick<Test, 'testdir'>, yaml: string, env: Record<string, string>) =>
  readPluginConfig('provider', 'demo', schema, configOf(t, yaml), env)

t.test("a plugin's variable wins over its section of the file, and that over its default", async (t) => {
  const yaml = 'plugins: { demo: { apiKey: from-file, baseUrl: "http://nas.local:81/x" } }'
  t.match(readDemo(t, yaml, {}), { status: 'ready', value: { apiKey: 'from-file', baseUrl: 'http://nas.local:81/x' } })
  t.match(readDemo(t, yaml, { DEMO_KEY: 'from-env' }), { value: { apiKey: 'from-env' } })
  t.match(readDemo(t, '', { DEMO_KEY: 'from-env', DEMO_URL: '' }), {
    value: { apiKey: 'from-env', baseUrl: 'https://demo.example/api', limits: { pages: 3 } }
  })
})

t.test('a variable that is also one of the server is taken as the server was set', async (t) => {
  const mail = Type.Object({ host: Type.String({ env: 'SMTP_HOST' }), port: Type.Integer({ default: 1, env: 'SMTP_PORT' }) })
  const readMail = (yaml: string, env: Record<string, string> = {}) =>
    readPluginConfig('channel', 'demo', mail, configOf(t, yaml), env)
  t.match(readMail(''), { status: 'disabled', reason: 'set SMTP_HOST' })
  t.match(readMail('mail: { host: mail.lan }'), { value: { host: 'mail.lan', port: 587 } })
  t.match(readMail('{ mail: { host: mail.lan, port: 25 }, plugins: { demo: { host: other.lan } } }'),
    { value: { host: 'other.lan', port: 25 } }, 'its own section wins')
  t.match(readMail('mail: { host: mail.lan }', { SMTP_HOST: 'env.lan' }), { value: { host: 'env.lan' } })
})

t.test('its secrets are told apart, and the addresses its owner chose', async (t) => {
  t.match(readDemo(t, 'plugins: { demo: { baseUrl: "http://nas.local:81/x" } }', { DEMO_KEY: 'hunter2' }), {
    secrets: ['hunter2'], origins: ['nas.local:81']
  })
})

t.test('what makes up its account is named as it is set', async (t) => {
  t.same(nameCredentials('provider', 'demo', schema), ['DEMO_KEY'])
  const plain = Type.Object({ user: Type.String(), token: Type.Optional(Type.String({ writeOnly: true })) })
  t.same(nameCredentials('channel', 'mail', plain), ['plugins.mail.user in config.yml', 'plugins.mail.token in config.yml'])
  t.same(nameCredentials('provider', 'free', undefined), [])
})

t.test('a required setting that is not set disables the plugin and is named', async (t) => {
  t.same(readDemo(t, '', {}), { status: 'disabled', reason: 'set DEMO_KEY' })
  t.same(readDemo(t, '', { DEMO_KEY: '' }), { status: 'disabled', reason: 'set DEMO_KEY' })
  const plain = Type.Object({ user: Type.String(), password: Type.String() })
  t.same(readPluginConfig('channel', 'mail', plain, configOf(t), {}), {
    status: 'disabled', reason: 'set plugins.mail.user in config.yml and plugins.mail.password in config.yml'
  })
})

t.test('a plugin can be switched off, whatever else is set', async (t) => {
  t.match(readDemo(t, '', { DEMO_KEY: 'hunter2', DEMO_ENABLED: 'false' }),
    { status: 'disabled', reason: 'switched off by DEMO_ENABLED' })
  t.match(readPluginConfig('provider', 'demo', undefined, configOf(t, 'plugins: { demo: { enabled: false } }'), {}),
    { status: 'disabled', reason: 'switched off by plugins.demo.enabled in config.yml' })
  const off = Type.Object({ enabled: Type.Boolean({ default: false, env: 'DEMO_ENABLED' }) })
  t.match(readPluginConfig('provider', 'demo', off, configOf(t), {}),
    { status: 'disabled', reason: 'off unless DEMO_ENABLED is true' })
})

t.test('a wrong setting fails the plugin and does not show a secret', async (t) => {
  t.same(readDemo(t, '', { DEMO_KEY: 'abc' }),
    { status: 'failed', reason: 'DEMO_KEY: the value given is not a text at least 4 characters' })
  t.same(readDemo(t, 'plugins: { demo: { baseUrl: 5 } }', { DEMO_KEY: 'hunter2' }),
    { status: 'failed', reason: 'DEMO_URL: 5 is not a text' })
})

t.test('exporters are set where frontends always were: in scan, apart from their switch', async (t) => {
  const exporter = Type.Object({ depth: Type.Integer({ default: 1 }) }, { additionalProperties: false })
  t.match(readPluginConfig('exporter', 'gamelist', exporter, configOf(t, 'scan: { gamelist: { export: true, depth: 2 } }'), {}),
    { status: 'ready', value: { depth: 2 } })
  t.match(readPluginConfig('exporter', 'gamelist', exporter, configOf(t, 'scan: { gamelist: { depth: deep } }'), {}),
    { status: 'failed', reason: 'scan.gamelist.depth in config.yml: "deep" is not a whole number' })
})

t.test('defaults inside a section that is set in part are filled in', async (t) => {
  const nested = Type.Object({ media: Type.Object({ a: Type.String({ default: 'x' }), b: Type.String({ default: 'y' }) }, { default: {} }) })
  t.match(readPluginConfig('exporter', 'gamelist', nested, configOf(t, 'scan: { gamelist: { media: { a: z } } }'), {}),
    { status: 'ready', value: { media: { a: 'z', b: 'y' } } })
})

t.test('a schema that is none fails the plugin', async (t) => {
  const plain = { type: 'object', properties: {} }
  t.match(readPluginConfig('provider', 'demo', plain as never, configOf(t), {}), { status: 'failed', reason: /Type\.Object/ })
})
