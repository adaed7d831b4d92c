import { type TSchema, Type } from '@sinclair/typebox'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { nameCredentials, readPluginConfig } from '../../core/loader/settings/plugin-config.ts'
import { createVariableOwners } from '../../core/loader/settings/plugin-variables.ts'
import { loadConfig } from '../load-config.ts'

const schema = Type.Object({
  enabled: Type.Boolean({ default: true, env: 'DEMO_ENABLED' }),
  apiKey: Type.String({ minLength: 4, writeOnly: true, env: 'DEMO_KEY' }),
  baseUrl: Type.String({ default: 'https://demo.example/api', env: 'DEMO_URL' }),
  limits: Type.Object({ pages: Type.Integer({ default: 3 }) }, { default: {} })
})

function configOf (t: Pick<Test, 'testdir'>, yaml = '') {
  return loadConfig({ SVC_DATA_DIR: t.testdir({ 'config.yml': yaml }), SVC_AUTH_SECRET_KEY: 'a key for tests only' }).config
}
const demoOf = (config: TSchema | undefined) => ({ key: 'demo', name: 'Demo', config })
const readDemo = (t: Pick<Test, 'testdir'>, yaml: string, env: Record<string, string>) =>
  readPluginConfig('provider', demoOf(schema), configOf(t, yaml), env)

t.test('a variable takes precedence over the file, and the file over the default', async (t) => {
  const yaml = 'plugins: { demo: { apiKey: from-file, baseUrl: "http://nas.local:81/x" } }'
  t.match(readDemo(t, yaml, {}), { status: 'ready', value: { apiKey: 'from-file', baseUrl: 'http://nas.local:81/x' } })
  t.match(readDemo(t, yaml, { DEMO_KEY: 'from-env' }), { value: { apiKey: 'from-env' } })
  t.match(readDemo(t, '', { DEMO_KEY: 'from-env', DEMO_URL: '' }), {
    value: { apiKey: 'from-env', baseUrl: 'https://demo.example/api', limits: { pages: 3 } }
  })
})

t.test('a setting with a standard format takes values of this format only', async (t) => {
  const values: [string, string, string][] = [
    ['uri', 'https://demo.example/api?x=1', 'demo api'], ['email', 'me@demo.example', 'me at demo'],
    ['uuid', 'd6b8dfb2-1d2c-4e28-9941-d523f09b0c46', 'd6b8dfb2'], ['date-time', '2026-01-02T03:04:05Z', 'soon']
  ]
  for (const [format, right, wrong] of values) {
    const formatted = Type.Object({ value: Type.String({ format }) })
    const read = (value: string) =>
      readPluginConfig('provider', demoOf(formatted), configOf(t, `plugins: { demo: { value: "${value}" } }`), {})
    t.match(read(right), { status: 'ready', value: { value: right } }, format)
    t.match(read(wrong), { status: 'failed', reason: /plugins\.demo\.value in config\.yml: ".+" is not / }, format)
  }
})

t.test('a variable shared with the server has the server\'s value', async (t) => {
  const mail = Type.Object({ host: Type.String({ env: 'SMTP_HOST' }), port: Type.Integer({ default: 1, env: 'SMTP_PORT' }) })
  const readMail = (yaml: string, env: Record<string, string> = {}) =>
    readPluginConfig('channel', demoOf(mail), configOf(t, yaml), env)
  t.match(readMail(''), { status: 'disabled', reason: 'set SMTP_HOST' })
  t.match(readMail('mail: { host: mail.lan }'), { value: { host: 'mail.lan', port: 587 } })
  t.match(readMail('{ mail: { host: mail.lan, port: 25 }, plugins: { demo: { host: other.lan } } }'),
    { value: { host: 'other.lan', port: 25 } }, 'its own section wins')
  t.match(readMail('mail: { host: mail.lan }', { SMTP_HOST: 'env.lan' }), { value: { host: 'env.lan' } })
})

t.test('an address is trusted only if the operator set it for the plugin', async (t) => {
  const local = Type.Object({
    url: Type.String({ default: 'http://127.0.0.1:8080', env: 'DEMO_URL' }),
    base: Type.Optional(Type.String({ env: 'SVC_BASE_URL' }))
  })
  const read = (yaml: string, env: Record<string, string> = {}) => readPluginConfig('provider', demoOf(local), configOf(t, yaml), env)
  const originsOf = (yaml: string, env: Record<string, string> = {}) => {
    const settings = read(yaml, env)
    return settings.status === 'ready' ? settings.origins : settings.reason
  }
  t.match(read('server: { base_url: "http://192.168.1.2:8080" }'), { value: { base: 'http://192.168.1.2:8080' } })
  t.same(originsOf('server: { base_url: "http://192.168.1.2:8080" }'), [])
  t.same(originsOf('', { SVC_BASE_URL: 'http://192.168.1.2:8080' }), [])
  t.same(originsOf('', { DEMO_URL: 'http://127.0.0.1:99' }), ['127.0.0.1:99'])
  t.same(originsOf('plugins: { demo: { url: "http://127.0.0.1:98" } }'), ['127.0.0.1:98'])
})

t.test('settings of the outgoing mail are for channels only', async (t) => {
  const mail = Type.Object({ password: Type.Optional(Type.String({ env: 'SMTP_PASSWORD' })) })
  const read = (kind: string) => readPluginConfig(kind, demoOf(mail), configOf(t), { SMTP_PASSWORD: 'hunter2' })
  t.match(read('channel'), { status: 'ready', value: { password: 'hunter2' } })
  for (const kind of ['provider', 'exporter']) {
    t.match(read(kind), {
      status: 'failed', reason: 'its setting password names the variable SMTP_PASSWORD, which only channels may read, ' +
      'because it belongs to the account of the mail server'
    })
  }
})

t.test('secrets and trusted addresses of a plugin are found', async (t) => {
  t.match(readDemo(t, 'plugins: { demo: { baseUrl: "http://nas.local:81/x" } }', { DEMO_KEY: 'hunter2' }), {
    secrets: ['hunter2'], origins: ['nas.local:81']
  })
})

t.test('the credentials of a plugin are named as the operator sets them', async (t) => {
  t.same(nameCredentials('provider', 'demo', schema), ['DEMO_KEY'])
  const plain = Type.Object({ user: Type.String(), token: Type.Optional(Type.String({ writeOnly: true })) })
  t.same(nameCredentials('channel', 'mail', plain), ['plugins.mail.user in config.yml', 'plugins.mail.token in config.yml'])
  t.same(nameCredentials('provider', 'free', undefined), [])
})

t.test('a missing required setting disables the plugin and is named', async (t) => {
  t.same(readDemo(t, '', {}), { status: 'disabled', reason: 'set DEMO_KEY' })
  t.same(readDemo(t, '', { DEMO_KEY: '' }), { status: 'disabled', reason: 'set DEMO_KEY' })
  const plain = Type.Object({ user: Type.String(), password: Type.String() })
  t.same(readPluginConfig('channel', { ...demoOf(plain), key: 'mail' }, configOf(t), {}), {
    status: 'disabled', reason: 'set plugins.mail.user in config.yml and plugins.mail.password in config.yml'
  })
})

t.test('a plugin can be switched off, whatever else is set', async (t) => {
  t.match(readDemo(t, '', { DEMO_KEY: 'hunter2', DEMO_ENABLED: 'false' }),
    { status: 'disabled', reason: 'switched off by DEMO_ENABLED' })
  t.match(readPluginConfig('provider', demoOf(undefined), configOf(t, 'plugins: { demo: { enabled: false } }'), {}),
    { status: 'disabled', reason: 'switched off by plugins.demo.enabled in config.yml' })
  const off = Type.Object({ enabled: Type.Boolean({ default: false, env: 'DEMO_ENABLED' }) })
  t.match(readPluginConfig('provider', demoOf(off), configOf(t), {}),
    { status: 'disabled', reason: 'off unless DEMO_ENABLED is true' })
})

t.test('a wrong setting fails the plugin and does not show a secret', async (t) => {
  t.same(readDemo(t, '', { DEMO_KEY: 'abc' }),
    { status: 'failed', reason: 'DEMO_KEY: the value given is not a text of at least 4 characters; correct or remove it' })
  t.same(readDemo(t, 'plugins: { demo: { baseUrl: 5 } }', { DEMO_KEY: 'hunter2' }),
    { status: 'failed', reason: 'DEMO_URL: 5 is not a text; correct or remove it' })
})

t.test('a wrong stored setting is named as such, and one of config.yml by its path', async (t) => {
  const read = (stored: Record<string, unknown>, yaml = '') =>
    readPluginConfig('provider', {
      ...demoOf(undefined), config: Type.Object({
        enabled: Type.Optional(Type.Boolean()), depth: Type.Integer({ default: 1 }), pin: Type.String({ default: '1234', minLength: 4, writeOnly: true })
      }), stored
    }, configOf(t, yaml), {})
  t.same(read({ depth: 'deep' }),
    { status: 'failed', reason: 'its setting depth: "deep" is not a whole number; correct it in the settings of the plugin' })
  t.same(read({ pin: '12' }),
    { status: 'failed', reason: 'its setting pin: the value given is not a text of at least 4 characters; correct it in the settings of the plugin' })
  t.match(read({ depth: 'deep' }, 'plugins: { demo: { depth: 2 } }'), { status: 'ready', value: { depth: 2 } })
  t.match(read({ depth: 2 }, 'plugins: { demo: { depth: deep } }'), { reason: /^plugins\.demo\.depth in config\.yml: "deep" is not / })
  t.same(read({ enabled: false }), { status: 'disabled', reason: 'switched off in its settings' })
})

t.test('exporters are configured in scan, without their switch', async (t) => {
  const exporter = Type.Object({ depth: Type.Integer({ default: 1 }) }, { additionalProperties: false })
  t.match(readPluginConfig('exporter', { ...demoOf(exporter), key: 'gamelist' }, configOf(t, 'scan: { gamelist: { export: true, depth: 2 } }'), {}),
    { status: 'ready', value: { depth: 2 } })
  t.match(readPluginConfig('exporter', { ...demoOf(exporter), key: 'gamelist' }, configOf(t, 'scan: { gamelist: { depth: deep } }'), {}),
    { status: 'failed', reason: 'scan.gamelist.depth in config.yml: "deep" is not a whole number; correct or remove it' })
})

t.test('a partly set section gets its other defaults', async (t) => {
  const nested = Type.Object({ media: Type.Object({ a: Type.String({ default: 'x' }), b: Type.String({ default: 'y' }) }, { default: {} }) })
  t.match(readPluginConfig('exporter', { ...demoOf(nested), key: 'gamelist' }, configOf(t, 'scan: { gamelist: { media: { a: z } } }'), {}),
    { status: 'ready', value: { media: { a: 'z', b: 'y' } } })
  t.match(readPluginConfig('exporter', { ...demoOf(nested), key: 'gamelist' }, configOf(t, 'scan: { gamelist: { media: { a: 5 } } }'), {}),
    { status: 'failed', reason: 'scan.gamelist.media.a in config.yml: 5 is not a text; correct or remove it' })
})

t.test('an invalid schema fails the plugin', async (t) => {
  const plain = { type: 'object', properties: {} }
  t.match(readPluginConfig('provider', demoOf(plain as never), configOf(t), {}), { status: 'failed', reason: /Type\.Object/ })
})

t.test('a plugin reads its own and the shared variables; any other fails it', async (t) => {
  const read = (plugin: { key: string, name: string }, variable: string) => readPluginConfig('channel',
    { ...plugin, config: Type.Object({ apiKey: Type.Optional(Type.String({ env: variable })) }) }, configOf(t), { [variable]: 'hunter2' })
  const OWN: [string, string, string[]][] = [
    ['igdb', 'IGDB', ['IGDB_CLIENT_ID', 'IGDB_CLIENT_SECRET']],
    ['hasheous', 'Hasheous', ['HASHEOUS_API_ENABLED', 'HASHEOUS_CLIENT_API_KEY']],
    ['moby', 'MobyGames', ['MOBYGAMES_API_KEY', 'MOBY_API_ENABLED']],
    ['sgdb', 'SteamGridDB', ['STEAMGRIDDB_API_KEY']],
    ['ss', 'ScreenScraper', ['SCREENSCRAPER_DEV_PASSWORD', 'SS_API_ENABLED']],
    ['ra', 'RetroAchievements', ['RETROACHIEVEMENTS_API_KEY', 'REFRESH_RETROACHIEVEMENTS_CACHE_DAYS']],
    ['my-source', 'Mine', ['MY_SOURCE_TOKEN', 'MYSOURCE_TOKEN', 'SVC_MY_SOURCE_TOKEN']],
    ['email', 'E-mail', ['SMTP_PASSWORD', 'SMTP_TLS_CA', 'SVC_BASE_URL', 'EMAIL_SENDER']]
  ]
  for (const [key, name, variables] of OWN) {
    for (const variable of variables) t.equal(read({ key, name }, variable).status, 'ready', `${key}: ${variable}`)
  }
  const FOREIGN = ['SVC_ADMIN_PASSWORD', 'SVC_AUTH_SECRET_KEY', 'SVC_DATABASE_URL', 'SVC_DATA_DIR', 'SVC_NEW_PASSWORD',
    'OIDC_CLIENT_SECRET', 'IGDB_CLIENT_SECRET', 'AWS_SECRET_ACCESS_KEY', 'PGPASSWORD', 'PATH', 'HOME', 'DEMO', 'DEMOGRAPHY_KEY', 'SVC_X_DEMO']
  for (const variable of FOREIGN) t.match(read(demoOf(undefined), variable), { status: 'failed', reason: variable }, variable)
  for (const [key, name, variable] of [['demo', 'IGDB', 'IGDB_CLIENT_SECRET'], ['demo', 'AWS', 'AWS_SECRET_ACCESS_KEY'],
    ['client', 'Client', 'IGDB_CLIENT_SECRET'], ['secret', 'Secret', 'AWS_SECRET_ACCESS_KEY'], ['x', 'E-mail', 'E_MAIL_SENDER']] as const) {
    t.equal(read({ key, name }, variable).status, 'failed', `${name} does not open ${variable}`)
  }
  t.same(read(demoOf(undefined), 'SVC_ADMIN_PASSWORD'), {
    status: 'failed',
    reason: 'its setting apiKey names the variable SVC_ADMIN_PASSWORD, which is not its own: use one that begins with DEMO_, ' +
      'such as DEMO_API_KEY'
  })
})

t.test('a variable belongs to the first plugin that names it, by key and origin', async (t) => {
  const owners = createVariableOwners()
  const igdb = { key: 'igdb', package: '@svc/provider-igdb', origin: 'built-in' } as const
  const demo = { key: 'demo', package: 'svc-provider-demo', origin: 'community' } as const
  owners.add(igdb, ['IGDB_CLIENT_SECRET', 'SVC_BASE_URL'])
  owners.add(demo, ['DEMO_EXTRA_KEY'])
  const find = (plugin: typeof igdb | typeof demo, key: string, variable: string) =>
    owners.findForeign({ ...plugin, key, package: 'svc-other' }, [variable])
  t.match(find(demo, 'igdb-client', 'IGDB_CLIENT_SECRET'), { variable: 'IGDB_CLIENT_SECRET', owner: igdb })
  t.match(find(demo, 'igdb', 'IGDB_CLIENT_SECRET'), { owner: igdb }, 'an exporter of the same key')
  t.match(find(demo, 'demo-extra', 'DEMO_EXTRA_KEY'), { owner: demo })
  t.equal(find(demo, 'demo', 'DEMO_EXTRA_KEY'), undefined)
  t.equal(find(demo, 'demo', 'SVC_BASE_URL'), undefined, 'what is shared belongs to nobody')
})

t.test('a key that is also a word of the server opens none of its variables', async (t) => {
  const read = (key: string, variable: string) => readPluginConfig('provider',
    { key, name: 'SVC', config: Type.Object({ x: Type.Optional(Type.String({ env: variable })) }) }, configOf(t), {}).status
  for (const [key, variable] of [['admin', 'SVC_ADMIN_PASSWORD'], ['new', 'SVC_NEW_PASSWORD'], ['oidc', 'OIDC_CLIENT_SECRET'],
    ['node', 'NODE_OPTIONS'], ['svc', 'SVC_AUTH_SECRET_KEY'], ['database', 'SVC_DATABASE_URL']] as const) {
    t.equal(read(key, variable), 'failed', variable)
  }
})

t.test('a configured folder is checked when the plugin is loaded', async (t) => {
  const schema = Type.Object({ install: Type.Optional(Type.String({ folder: true, env: 'DEMO_INSTALL' })) })
  const config = configOf(t)
  const folder = t.testdir({ there: {} })
  writeFileSync(join(folder, 'file'), '')
  const read = (path: string) => readPluginConfig('provider', demoOf(schema), config, { DEMO_INSTALL: path })
  t.match(read(join(folder, 'there')), { status: 'ready', folders: { install: join(folder, 'there') } })
  t.match(readPluginConfig('provider', demoOf(schema), config, {}), { status: 'ready', folders: {} })
  t.match(read(join(folder, 'gone')), { status: 'failed', reason: /^DEMO_INSTALL: '.+gone' does not exist; correct it/ })
  t.match(read(join(folder, 'file')), { status: 'failed', reason: /is not a folder; give the path of the folder itself/ })
  t.match(read('launchbox'), { status: 'failed', reason: /'launchbox' is not an absolute path; give the path from the root/ })
})

t.test('a plugin cannot choose its folders itself', async (t) => {
  for (const install of [Type.String({ folder: true, default: '/' }), Type.Integer({ folder: true })]) {
    t.match(readPluginConfig('provider', demoOf(Type.Object({ install })), configOf(t), {}), {
      status: 'failed', reason: 'its setting install is a folder, so its schema must be Type.String without a default'
    })
  }
})
