import { cpSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type PluginKind, RateLimitedError, Type } from '@svc/plugin-sdk'
import type { TObject, TSchema } from '@sinclair/typebox'
import fastify from 'fastify'
import t from 'tap'
import { findDefinitionProblem } from '../../core/loader/checks/check-definition.ts'
import { describeWrongKeys } from '../../core/loader/checks/plugin-keys.ts'
import { checkProviderFields } from '../../core/loader/checks/provider-fields.ts'
import { rebuildDefinition } from '../../core/loader/descriptor.ts'
import { type Definition, type Loaded, createRegistry } from '../../core/loader/registry.ts'
import { KNOWN_PROVIDERS } from '../../plugins/plugins/known-providers.ts'
import { loadPlugins } from '../../core/loader/loader.ts'
import { type PluginPackage, linkSdk } from '../../core/loader/packages/packages.ts'
import { readManifest } from '../../core/loader/steps/import.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { describePlugin } from '../../plugins/plugins/cli.ts'
import { loadConfig } from '../load-config.ts'
import { buildPackage } from './build.ts'
import { createMemoryServices } from './memory-services.ts'
import { installFixtures } from './install.ts'
import { listInstalled, load, serverFields } from './loader-support.ts'

const BROKEN: { fixture: string, status: string, reason: RegExp }[] = [
  { fixture: 'no-default-export', status: 'failed', reason: /default export is not the result of defineProvider/ },
  { fixture: 'plain-object', status: 'failed', reason: /default export is not the result of defineProvider/ },
  { fixture: 'bundled-sdk', status: 'failed', reason: /of SDK 2\.0\.0; export this result, and do not bundle @svc\/plugin-sdk/ },
  { fixture: 'moved-import', status: 'failed', reason: /imports 'findBestTitle' from '@svc\/plugin-sdk',.*import it from '@svc\/plugin-sdk\/titles'/ },
  { fixture: 'former-member', status: 'failed', reason: /has 'links', which is 'order\.links' since SDK 2\.0\.0; move it there/ },
  { fixture: 'incomplete-group', status: 'failed', reason: /lacks the function 'media\.fetch', which 'media' needs/ },
  { fixture: 'foreign-setting', status: 'failed', reason: /account has the setting 'password', .* begin with 'foreign_setting_'/ },
  { fixture: 'taken-field', status: 'failed', reason: /its key 'platform' gives it the field 'platform_id', .* choose another key$/ },
  { fixture: 'wrong-kind', status: 'failed', reason: /package\.json says channel, its code is a provider/ },
  { fixture: 'key-differs', status: 'failed', reason: /says key 'key-differs', its code 'another-key'/ },
  { fixture: 'no-identify', status: 'failed', reason: /neither the function 'identify' nor 'getById'/ },
  { fixture: 'sdk-unsupported', status: 'unsupported', reason: /needs SDK \^1, this server has 2\..*install a release.*CHANGELOG\.md/ },
  { fixture: 'sdk-not-a-range', status: 'unsupported', reason: /needs SDK latest and greatest/ },
  { fixture: 'missing-config', status: 'disabled', reason: /^set MISSING_CONFIG_API_KEY$/ },
  { fixture: 'missing-choice', status: 'disabled', reason: /^set MISSING_CHOICE_REMOTE or MISSING_CHOICE_FOLDER$/ },
  { fixture: 'plain-schema', status: 'failed', reason: /^its config\.url is not a schema made with Type of @svc\/plugin-sdk/ },
  { fixture: 'foreign-schema', status: 'failed', reason: /^its metadata\.shelf has a '\$ref' that the server cannot use; remove it$/ },
  { fixture: 'throws-in-setup', status: 'failed', reason: /^its setup throws: no index at \/index\?key=\*+$/ },
  { fixture: 'throws-on-import', status: 'failed', reason: /^it throws while loading: cannot start on this day of the week$/ },
  { fixture: 'throws-a-string', status: 'failed', reason: /^it throws while loading: a plain text$/ },
  { fixture: 'missing-dependency', status: 'failed', reason: /own dependency 'a-package-nobody-installed' is missing; reinstall svc-provider-missing-dependency/ },
  { fixture: 'missing-file', status: 'failed', reason: /its file '.*lost\.js' is missing/ },
  { fixture: 'no-manifest', status: 'failed', reason: /no "svc" key, so it is not a plugin/ },
  { fixture: 'invalid-key', status: 'failed', reason: /"svc\.key" in its package\.json is "Invalid Key"; set it to a text that fits "at most 32 lower-case letters/ },
  { fixture: 'extra-manifest-key', status: 'failed', reason: /"svc\.port" in its package\.json is not a key of the manifest; remove it$/ },
  { fixture: 'entry-missing', status: 'failed', reason: /the file its package\.json exports does not exist; build it first/ },
  { fixture: 'climbing-dependency', status: 'failed', reason: /depends on '\.\.\/\.\.\/\.\.\/\.\.', which is not a valid name of an npm package; remove it/ },
  { fixture: 'climbing-entry', status: 'failed', reason: /exports '.*good-provider.index\.js', which is outside of its folder/ },
  { fixture: 'broken-json', status: 'failed', reason: /its package\.json cannot be read: / }
]

for (const { fixture, status, reason } of BROKEN) {
  t.test(`the plugin ${fixture} is ${status} with a reason, and its neighbour is active`, async (t) => {
    const dataDir = installFixtures(t, [fixture, 'good-provider'])
    const { registry } = await load(t, dataDir, listInstalled(dataDir))
    const [broken, good] = registry.records
    t.equal(broken?.status, status)
    t.match(broken?.reason, reason)
    t.match(good, { key: 'good-provider', status: 'active', reason: null, origin: 'built-in', version: '1.0.0' })
    t.same([...registry.providers.keys()], ['good-provider'])
  })
}

t.test('this file tests every fixture', async (t) => {
  const tried = new Set([...BROKEN.map(({ fixture }) => fixture), 'invalid-config', 'duplicate-key', 'closes',
    'throws-in-close', 'hangs-in-setup', 'hangs-on-import', 'good-provider', 'good-channel', 'good-exporter'])
  t.same(readdirSync(new URL('fixtures/', import.meta.url)).filter((name) => !tried.has(name)), [])
})

t.test('a provider, a channel and an exporter are registered under their kinds', async (t) => {
  const dataDir = installFixtures(t, ['good-provider', 'good-channel', 'good-exporter'])
  const { registry } = await load(t, dataDir, listInstalled(dataDir))
  t.same([...registry.providers.keys()], ['good-provider'])
  t.same([...registry.channels.keys()], ['good-channel'])
  t.same([...registry.exporters.keys()], ['good-exporter'])
  t.same(registry.definitions.map(({ kind }) => kind), ['provider', 'channel', 'exporter'])
})

t.test('a definition with a part that the server cannot use names the part', (t) => {
  const problemOf = (parts: object, kind: PluginKind = 'provider') =>
    findDefinitionProblem(kind, { key: 'demo', name: 'Demo', ...parts })
  const deep = Array.from({ length: 2_000 }).reduce<TSchema>((inner) => Type.Object({ a: inner }), Type.String())
  const WRONG: [object, RegExp][] = [
    [{ name: 'x'.repeat(201) }, /the name "x+: expected string length/],
    [{ name: 'Demo\u001b[31m' }, /the name "Demo\\u001b\[31m"/],
    [{ limits: { rates: [{ requests: 0, perMs: 1 }] } }, /the limits\.rates\.0\.requests 0: expected integer/],
    [{ limits: { concurrency: -1 } }, /the limits\.concurrency -1/],
    [{ attribution: 'a\0b' }, /^its "attribution" has a text with a NUL/],
    [{ config: Type.Object({ a: Type.String({ description: '\ud800' }) }) }, /^its "config" has a text with .* half of a surrogate/],
    [{ platforms: { snes: null } }, /the platforms\.snes null/],
    [{ order: { links: 'igdb' } }, /the order\.links "igdb": expected array/],
    [{ order: { when: 'never' } }, /the order\.when "never"/],
    [{ heartbeatFlag: '__proto__' }, /the heartbeatFlag "__proto__"/],
    [{ tag: '(' }, /the tag "\("/],
    [{ index: { titles: 5 } }, /the index\.titles 5/],
    [{ progress: { schema: 5 } }, /^its progress\.schema is not a schema/],
    [{ metadata: null }, /^its metadata is not a schema/],
    [{ metadata: Type.String() }, /^its metadata is not a schema made with Type\.Object/],
    [{ metadata: deep }, /is more than 32 levels deep$/],
    [{ metadata: Type.Object({}, { $id: 'ErrorSchema' }) }, /^its metadata has a '\$id'/],
    [{ metadata: Type.Object({ a: Type.String({ pattern: '(' }) }) }, /^its metadata\.a has a 'pattern'/],
    [{ metadata: Type.Object({ a: Type.String({ format: 'unheard-of' }) }) }, /^its metadata\.a has a 'format'/],
    [{ metadata: Type.Object({ a: Type.Array(Type.Object({ b: { type: 'nonsense' } as never })) }) }, /^its metadata\.a\.b is not a schema/],
    [{ metadata: Type.Object(JSON.parse('{ "__proto__": { "type": "string" } }') as Record<string, TSchema>) }, /^its metadata has a 'properties'/]
  ]
  for (const [parts, problem] of WRONG) t.match(problemOf(parts), problem)
  t.equal(problemOf({ config: Type.Object({ a: Type.Integer({ default: 'x' }) }) }),
    'its config.a has the default "x", which is not a whole number; its author has to correct it')
  t.equal(problemOf({ config: Type.Object({ a: Type.Optional(Type.String({ default: 'x', maxLength: 1 })) }) }), undefined)
  t.match(problemOf({ settings: Type.Object({ a: Type.Unsafe({ $ref: 'x' }) }) }, 'channel'), /^its settings\.a has a '\$ref'/)
  t.match(problemOf({ fileName: 5, media: {} }, 'exporter'), /the fileName 5/)
  for (const fileName of ['Doom.wad', 'Game (Disc 1).m3u', 'game.cue', 'games', '.xml']) {
    t.match(problemOf({ fileName, media: {} }, 'exporter'), /^its fileName ".+" may be that of a ROM.*end it with \.cfg, /, fileName)
  }
  for (const fileName of ['../games.csv', '/etc/games.csv', 'media/games.csv', 'a\\games.csv']) {
    t.match(problemOf({ fileName, media: {} }, 'exporter'), /leads out of the platform folder: .* is refused: .+; name a file/, fileName)
  }
  for (const cover of ['..', '../..', '/covers', 'covers/../..']) {
    t.match(problemOf({ fileName: 'games.csv', media: { cover } }, 'exporter'), /leads out of the platform folder/, cover)
  }
  for (const cover of ['', '.', './']) {
    t.match(problemOf({ fileName: 'games.csv', media: { cover } }, 'exporter'), /^its media\.cover names no folder; /, cover)
  }
  t.equal(problemOf({ fileName: 'games.csv', media: { cover: 'media/covers' } }, 'exporter'), undefined)
  for (const fileName of ['games.csv', 'MAME.XML', 'metadata.pegasus.txt']) {
    t.equal(problemOf({ fileName, media: {} }, 'exporter'), undefined, fileName)
  }
  t.equal(problemOf({
    attribution: 'A \\u0000 that is written, and \u{1f3ae}',
    limits: () => ({}),
    order: { links: undefined, after: ['igdb'], when: 'identified' },
    platforms: { snes: 1, nes: ['a', 'b'], md: true, gb: { ids: [1] } },
    progress: { account: Type.Object({ demo_username: Type.String({ maxLength: 20 }) }), schema: Type.Object({}) },
    metadata: Type.Object({
      kind: Type.Union([Type.Literal('a'), Type.Null()]), names: Type.Optional(Type.Record(Type.String(), Type.Array(Type.Number())))
    })
  }), undefined)
  t.end()
})

t.test('a community package with the name of a built-in one does not change its state', (t) => {
  const make = () => {
    const made = createRegistry()
    const record = { kind: 'provider', key: 'igdb', name: 'IGDB', package: '@svc/provider-igdb', version: '1.0.0' } as const
    made.add({ ...record, status: 'active', reason: null, origin: 'built-in' }, { key: 'igdb' } as Loaded<Definition>)
    made.add({ ...record, status: 'failed', reason: 'the provider is already there', origin: 'community' }, null)
    return made.registry
  }
  const [worker, web] = [make(), make()]
  web.applyReports(worker.report())
  t.same(worker.report().map((report) => report.is_offered), [true, false])
  t.same(web.records.map(({ status }) => status), ['active', 'failed'])
  t.ok(web.providers.has('igdb'))
  t.end()
})

t.test('a forged descriptor makes functions of methods only', (t) => {
  const call = () => undefined
  const methods = ['identify', 'tag', 'platforms', '__proto__', 'constructor.prototype', 'toString']
  const data = { key: 'demo', tag: 'demo', platforms: {} }
  const definition = rebuildDefinition({ kind: 'provider', data, methods }, () => call)
  t.same(definition, { ...data, identify: call })
  t.equal(Object.getPrototypeOf(definition), Object.prototype)
  t.end()
})

t.test('a provider with a field of the server is refused', (t) => {
  const check = (key: string, account?: TObject) => {
    const progress = account && { account, schema: Type.Object({}), read: async () => [] }
    checkProviderFields({ key, ...progress && { progress } }, serverFields)
  }
  for (const key of ['platform', 'library', 'user', 'rom', 'manual']) t.throws(() => { check(key) }, { status: 'failed', message: key })
  for (const name of ['current_password', 'keep_tokens', 'ui_settings', 'avatar_path']) {
    const key = name.split('_')[0] ?? ''
    t.throws(() => { check(key, Type.Object({ [name]: Type.String() })) }, { message: `the field '${name}'` }, name)
  }
  for (const { key } of KNOWN_PROVIDERS) t.doesNotThrow(() => { check(key, Type.Object({ [`${key}_username`]: Type.String() })) }, key)
  t.end()
})

t.test('a reason is printed without control characters', (t) => {
  const record = { kind: null, key: 'x', name: 'x', package: 'x', version: null, origin: 'community' as const }
  t.equal(describePlugin({ ...record, status: 'failed', reason: 'it ended: \u001b]0;title\u0007\nactive' }), 'failed: it ended:  ]0;title active')
  t.end()
})

t.test('of two plugins with one key the first wins, and the error names it', async (t) => {
  const dataDir = installFixtures(t, ['good-provider', 'duplicate-key'])
  const { registry } = await load(t, dataDir, listInstalled(dataDir))
  t.same(registry.records.map(({ status }) => status), ['active', 'failed'])
  t.equal(registry.records[1]?.reason, "its key 'good-provider' belongs to svc-provider-good-provider; its author has to choose another")
  t.equal(registry.definitions.length, 1)
})

t.test('of two exporters with one route or file the first wins, and the error names it', async (t) => {
  const write = (name: string, parts: string): PluginPackage => {
    const folder = join(t.testdirName, name)
    mkdirSync(folder, { recursive: true })
    const entry = join(folder, 'index.js')
    writeFileSync(entry, `export default { kind: 'exporter', definition: { key: '${name}', name: 'Test', media: {}, render () {}, ${parts} } }`)
    const manifest = { kind: 'exporter', key: name, sdk: '^2' }
    return { folder, name: `svc-exporter-${name}`, version: '1.0.0', manifest, entry, origin: 'built-in', problem: null }
  }
  const dataDir = t.testdir({})
  const packages = [
    write('one', "fileName: 'games.xml'"), write('route', "fileName: 'a.xml', route: 'one'"), write('file', "fileName: 'Games.XML'"),
    write('other', "fileName: 'b.xml', route: 'file'"), write('path', "fileName: 'c.xml', route: 'a/b'")
  ]
  const { registry } = await load(t, dataDir, packages)
  const remedy = 'its author has to choose another'
  t.match(registry.records.map(({ status, reason }) => [status, reason]), [
    ['active', null],
    ['failed', `its route 'one' belongs to svc-exporter-one; ${remedy}`],
    ['failed', `its fileName 'Games.XML' belongs to svc-exporter-one; ${remedy}`],
    ['active', null],
    ['failed', /^its definition has the route "a\/b": /]
  ])
  t.same([...registry.exporters.keys()], ['one', 'other'])
})

t.test('a wrong setting fails the plugin with its key, value and allowed values', async (t) => {
  const dataDir = installFixtures(t, ['invalid-config'])
  const write = (settings: string) => {
    writeFileSync(join(dataDir, 'config.yml'), `plugins:\n  invalid-config:\n    ${settings}\n`)
  }
  write('retries: 9')
  const [wrong] = (await load(t, dataDir, listInstalled(dataDir))).registry.records
  t.equal(wrong?.status, 'failed')
  t.match(wrong?.reason, /^INVALID_CONFIG_RETRIES: 9 is not a whole number from 0 to 5; correct or remove it$/)

  write('{ retries: 1, password: x }')
  const [secret] = (await load(t, dataDir, listInstalled(dataDir))).registry.records
  t.match(secret?.reason, /^plugins\.invalid-config\.password in config\.yml: the value given is not a text of at least 3/)

  write('{ retries: 1, enabled: false }')
  const [off] = (await load(t, dataDir, listInstalled(dataDir))).registry.records
  t.equal(off?.status, 'disabled')
  t.match(off?.reason, /switched off by plugins\.invalid-config\.enabled in config\.yml/)
})

t.test('a web server reads a plugin\'s definition but does not set it up', async (t) => {
  const dataDir = installFixtures(t, ['throws-in-setup', 'hangs-in-setup'])
  const { registry } = await load(t, dataDir, listInstalled(dataDir), false)
  t.same(registry.records.map(({ status }) => status), ['active', 'active'])
})

t.test('a plugin is closed with the server, before its services', async (t) => {
  const dataDir = installFixtures(t, ['closes', 'throws-in-close'])
  const packages = listInstalled(dataDir)
  const { seen } = await import(pathToFileURL(packages[0]?.entry ?? '').href) as { seen: string[] }
  const { config } = loadConfig({ SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: 'a key for tests only' })
  const app = fastify()
  await loadPlugins(app, {
    config,
    packages,
    runsPlugins: true,
    createServices: (_kind, _key, { config: values }) => {
      app.addHook('onClose', async () => { seen.push('services closed') })
      return createMemoryServices(values, dataDir)
    }
  })
  await app.ready()
  t.same(seen, ['setup'])
  await app.close()
  t.same(seen, ['setup', 'close', 'services closed', 'services closed'])
})

t.test('a plugin is loaded again with changed settings', async (t) => {
  const dataDir = installFixtures(t, ['missing-config', 'closes', 'good-provider'])
  const packages = listInstalled(dataDir)
  const closes = packages.find(({ name }) => name.endsWith('closes'))
  const { seen } = await import(pathToFileURL(closes?.entry ?? '').href) as { seen: string[] }
  const { config } = loadConfig({ SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: 'a key for tests only' })
  const app = fastify()
  let values = {}
  const registry = await loadPlugins(app, {
    config, packages, runsPlugins: true, stored: { of: (_kind, key) => key === 'missing-config' ? values : {} },
    createServices: (_kind, _key, { config: given }) => createMemoryServices(given, dataDir)
  })
  await app.ready()
  const statusOf = () => registry.records.find(({ key }) => key === 'missing-config')?.status
  const reloaded: string[] = []
  registry.onReload(({ key }) => { reloaded.push(key) })
  t.equal(statusOf(), 'disabled')
  values = { apiKey: 'hunter2', unknown: 'of a later version' }
  await registry.reload('provider', 'missing-config')
  t.equal(statusOf(), 'active')
  t.same(registry.providers.get('missing-config')?.trust.secrets, ['hunter2'])
  values = {}
  await registry.reload('provider', 'missing-config')
  t.equal(statusOf(), 'disabled')
  t.notOk(registry.providers.has('missing-config'))
  t.same(reloaded, ['missing-config', 'missing-config'])
  const before = seen.length
  await registry.reload('provider', 'closes')
  t.same(seen.slice(before), ['setup'], 'calls of the former one may still run')
  await app.close()
  t.same(seen.slice(before), ['setup', 'close', 'close'])
})

t.test('a broken package.json of the plugins folder affects no built-in plugin', async (t) => {
  const dataDir = installFixtures(t, ['good-provider'])
  writeFileSync(join(dataDir, 'plugins', 'package.json'), '{ "dependencies": ')
  const [broken, ...others] = listInstalled(dataDir)
  t.match(broken?.problem, /cannot be read: .*Correct or delete it/)
  t.same(others, [])
})

t.test('a missing package is reported with the command that installs it', async (t) => {
  const dataDir = installFixtures(t, ['good-provider'])
  rmSync(join(dataDir, 'plugins', 'node_modules', 'svc-provider-good-provider'))
  const { registry } = await load(t, dataDir, listInstalled(dataDir))
  t.match(registry.records[0], {
    status: 'failed', reason: 'it is not installed; run svc plugins add svc-provider-good-provider'
  })
})

t.test('a built community package loads and throws the errors of this server', async (t) => {
  const dataDir = t.testdir({
    'config.yml': 'plugins:\n  minimal:\n    apiKey: a key\n',
    plugins: { 'package.json': '{ "dependencies": { "svc-provider-minimal": "^1.0.0" } }' }
  })
  const folder = join(dataDir, 'plugins', 'node_modules', 'svc-provider-minimal')
  mkdirSync(folder, { recursive: true })
  for (const part of ['package.json', 'src']) {
    cpSync(join(SERVER_DIR, 'examples', 'provider-minimal', part), join(folder, part), { recursive: true })
  }
  buildPackage(folder)
  rmSync(join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'dist', 'errors.js'), "export { RateLimitedError } from '@svc/plugin-sdk'\n")

  const { registry } = await load(t, dataDir, listInstalled(dataDir))
  t.match(registry.records[0], { key: 'minimal', status: 'active', package: 'svc-provider-minimal' })
  const { RateLimitedError: theirs } =
    await import(pathToFileURL(join(folder, 'dist', 'errors.js')).href) as { RateLimitedError: unknown }
  t.equal(theirs, RateLimitedError)
})

t.test('this server\'s SDK replaces another copy in the plugins folder', async (t) => {
  const plugins = {
    'package.json': JSON.stringify({ dependencies: { '@svc/plugin-sdk': 'file:sdk.tgz' } }),
    node_modules: { '@svc': { 'plugin-sdk': { 'package.json': '{}' } } }
  }
  const dataDir = t.testdir({ plugins })
  t.same(listInstalled(dataDir), [])
  const link = join(dataDir, 'plugins', 'node_modules', '@svc', 'plugin-sdk')
  for (let start = 0; start < 2; start++) {
    linkSdk(dataDir)
    t.equal(realpathSync(link), join(SERVER_DIR, 'sdk'))
  }
})

t.test('a data directory without plugins is not changed', async (t) => {
  const dataDir = t.testdir({})
  linkSdk(dataDir)
  t.notOk(existsSync(join(dataDir, 'plugins')))
  t.same(listInstalled(dataDir), [])
})

t.test('a misspelt plugin key or setting is refused with the nearest one', async (t) => {
  const dataDir = installFixtures(t, ['good-provider', 'missing-config'])
  const start = async (yaml: string) => {
    writeFileSync(join(dataDir, 'config.yml'), yaml)
    return await load(t, dataDir, listInstalled(dataDir))
  }
  await t.rejects(start('plugins: { good-provder: { a: 1 } }'),
    /plugins\.good-provder in .*config\.yml belongs to no plugin\. Did you mean plugins\.good-provider\?$/)
  await t.rejects(start('plugins: { Missing-Config: { apiKey: x } }'), /Did you mean plugins\.missing-config\?/)
  await t.rejects(start('plugins: { missing-config: { apikey: x } }'),
    /plugins\.missing-config\.apikey in .*config\.yml is not a setting of this plugin\. Did you mean plugins\.missing-config\.apiKey\?$/)
  await t.rejects(start('plugins: { missing-config: { zoom: 3 } }'), /Remove it; the settings are: enabled, refresh_cron, progress_cron, progress_sync, apiKey\.$/)
  const { registry } = await start('plugins: { missing-config: { enabled: false, apiKey: x }, something-removed: { a: 1 } }')
  t.equal(registry.records.length, 2, 'the section of a plugin that is not installed does no harm')
})

t.test('an unknown or missing kind of a package is refused with the kinds', (t) => {
  const read = (kind?: string) => readManifest({ problem: null, manifest: { kind, key: 'demo', sdk: '^2' } } as never)
  t.throws(() => read('widget'), { message: '"svc.kind" in its package.json is "widget"; set it to provider or channel or exporter' })
  t.throws(() => read(), { message: '"svc.kind" in its package.json is missing; set it to provider or channel or exporter' })
  t.end()
})

t.test('a setting that an exporter does not have is named at any depth', (t) => {
  const media = Type.Object({ image: Type.String() })
  const demo = { exprt: true, export: true, media: { image: 'x', imag: 'x' }, launch: { any: 1 } }
  const find = (exporters: { key: string, properties: Record<string, TSchema> | undefined }[]) =>
    describeWrongKeys({ plugins: {}, data_dir: '/data', file: { path: '/data/config.yml' } as never, scan: { demo, lost: { a: 1 } } as never },
      exporters.map((exporter) => ({ kind: 'exporter', ...exporter })))
  const settings = 'The settings are: scan.demo.export, scan.demo.enabled, scan.demo.media.image, scan.demo.launch'
  t.same(find([{ key: 'demo', properties: { media, launch: Type.Record(Type.String(), Type.String()) } }]), ['exprt', 'media.imag']
    .map((name) => `scan.demo.${name} in /data/config.yml is not a setting of this exporter and is ignored; correct or remove it. ${settings}`))
  t.same(find([{ key: 'lost', properties: undefined }, { key: 'absent', properties: {} }]), [])
  t.end()
})
