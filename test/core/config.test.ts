import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TSchema, Type } from '@sinclair/typebox'
import { CronExpressionParser } from 'cron-parser'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { listDescribed, renderSection, renderSections } from '../../core/cli/config-help.ts'
import { coerceText, listSettings } from '../../core/config/setting-values.ts'
import { renderConfig } from '../../core/config/render-config.ts'
import { basePath, shareableBaseUrl } from '../../core/config/base-url.ts'
import { fixTimes, isCron } from '../../core/config/cron.ts'
import { directUrlOf, poolerUrlOf, preparesStatements } from '../../core/config/database-urls.ts'
import { createConfigSchema } from '../../core/config/schema.ts'
import { defineSection } from '../../core/config/section.ts'
import { StartError } from '../../core/errors.ts'
import { features } from '../../plugins/index.ts'
import { excludeConfig } from '../../plugins/library/config.ts'
import { emulatorjsConfig } from '../../plugins/settings/config.ts'
import { tasksConfig } from '../../plugins/tasks/config.ts'
import { loadConfig } from '../load-config.ts'

const KEY = 'a key for tests only'
const SCHEMA = createConfigSchema(await features.loadSections())
const SETTINGS = listSettings(SCHEMA)

/** Loads a data directory with this config.yml. */
function load (t: Pick<Test, 'testdir'>, yaml: string | null, env: Record<string, string> = {}) {
  const dataDir = t.testdir(yaml === null ? {} : { 'config.yml': yaml })
  return loadConfig({ SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: KEY, ...env })
}

function failureOf (t: Pick<Test, 'testdir'>, yaml: string | null, env: Record<string, string> = {}): string {
  try {
    load(t, yaml, env)
  } catch (err) {
    return (err as Error).message
  }
  return ''
}

t.test('the address of a bucket needs its credentials, which are never shown', async (t) => {
  const env = { SVC_STORE_URL: 's3://games/data?endpoint=http://nas:9000' }
  t.match(failureOf(t, null, env), /^The store s3:\/\/games needs credentials\. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\.$/)
  t.match(failureOf(t, null, { SVC_STORE_URL: 's3://id:key@games' }), /^SVC_STORE_URL: .* is not an address such as s3:/)
  const { config } = load(t, null, { ...env, AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'hunter2', AWS_SESSION_TOKEN: 'hunter2' })
  t.notOk(renderConfig(config).includes('hunter2'))
  t.match(load(t, 'store: { access_key_id: id, secret_access_key: other }', env).config.store, { secret_access_key: 'other' })
  t.equal(load(t, null, { AWS_ACCESS_KEY_ID: 'id' }).config.store.url, undefined, 'variables for other programs change nothing')
})

t.test('the environment takes precedence over config.yml, and that over defaults', async (t) => {
  t.equal(load(t, null).config.server.port, 8080)
  t.equal(load(t, 'server: { port: 81 }').config.server.port, 81)
  t.equal(load(t, 'server: { port: 81 }', { SVC_PORT: '82' }).config.server.port, 82)
})

t.test('an empty variable counts as not set', async (t) => {
  const { config } = load(t, 'server: { port: 81 }', { SVC_PORT: '', SVC_ADMIN_USERNAME: '' })
  t.equal(config.server.port, 81)
  t.equal(config.auth.admin_username, undefined)
})

t.test('an empty section of the file changes nothing', async (t) => {
  const { config, warnings } = load(t, 'server:\nscan:\n  priority:\nplugins:\n')
  t.equal(config.server.port, 8080)
  t.same(config.scan.priority.language, ['en'])
  t.same(warnings, [])
})

t.test('a wrong variable is named with its value, allowed values and default', async (t) => {
  const message = failureOf(t, null, { SVC_PORT: '99999' })
  t.equal(message, 'SVC_PORT: "99999" is not a whole number from 0 to 65535. Set it to a whole number from 0 to 65535, ' +
    'or remove it to use 8080.')
  t.match(failureOf(t, null, { SVC_PORT: 'eighty' }), /^SVC_PORT: "eighty" is not a whole number/)
  t.match(failureOf(t, null, { RESCAN_ON_FILESYSTEM_CHANGE_DELAY: '0' }),
    /^RESCAN_ON_FILESYSTEM_CHANGE_DELAY: "0" is not a number from 0\.005 to 1440\. .* remove it to use 5\.$/)
  t.match(failureOf(t, null, { DISABLE_CSRF_PROTECTION: 'maybe' }), /^DISABLE_CSRF_PROTECTION: "maybe" is not true or false/)
  t.match(failureOf(t, null, { SVC_LOG_LEVEL: 'loud' }), /^SVC_LOG_LEVEL: "loud" is not one of fatal, error/)
})

t.test('a time limit that is too long for a timer is refused', async (t) => {
  for (const name of ['TASK_TIMEOUT', 'SCAN_TIMEOUT', 'SEVEN_ZIP_TIMEOUT', 'STREAMING_SAVE_TIMEOUT', 'STREAMING_LAUNCH_TIMEOUT']) {
    t.match(failureOf(t, null, { [name]: '2147484' }), new RegExp(`^${name}: "2147484" is not a whole number from 1 to 2147483\\.`))
    t.equal(failureOf(t, null, { [name]: '2147483' }), '')
  }
})

t.test('a wrong key of the file is named with its path, the file and its value', async (t) => {
  t.match(failureOf(t, 'server: { port: eighty }'), /^server\.port in .*config\.yml: "eighty" is not a whole number/)
  t.match(failureOf(t, 'scan: { media: [box2d, hologram] }'), /^scan\.media\.1 in .*: "hologram" is not one of cover, /)
  t.match(failureOf(t, 'scan: 5'), /^scan in .*: 5 is not a section of keys/)
  t.match(failureOf(t, 'libraries: { a: {} }'), /^libraries\.a\.path in .* is missing\. Set it to a text that is not empty\.$/m)
  t.match(failureOf(t, 'system: { platforms: { a/b: 5 } }'), /^system\.platforms\.a\/b in .*: 5 is not a text/)
  t.match(failureOf(t, 'plugins: { igdb: 5 }'), /^plugins\.igdb in .*: the value given is not a section of keys/)
  t.match(failureOf(t, 'emulatorjs: { cache_limit: big }'), /^emulatorjs\.cache_limit in .*: "big" is not a whole number/)
  t.match(failureOf(t, 'emulatorjs: { controls: { snes9x: { 4: { 8: { value: x } } } } }'), /^emulatorjs\.controls\.snes9x\.4 in /)
  const failure = failureOf(t, 'emulatorjs: { netplay: { ice_servers: [{ username: me, credential: hunter2 }] } }')
  t.match(failure, /^emulatorjs\.netplay\.ice_servers\.0\.urls in /)
  t.notMatch(failure, 'hunter2')
})

t.test('all errors are reported at once', async (t) => {
  const lines = failureOf(t, 'database: { pool_size: 0 }', { SVC_PORT: '-1' }).split('\n')
  t.equal(lines.length, 2)
  t.ok(lines.some((line) => line.startsWith('SVC_PORT: "-1"')))
  t.ok(lines.some((line) => line.startsWith('database.pool_size in ')))
})

t.test('a wrong text is explained in words, for every setting with a format', async (t) => {
  const formatted = SETTINGS.filter(({ schema, env }) =>
    env !== undefined && [schema.format, schema.items?.format].some((format) => format !== undefined))
  t.ok(formatted.length > 15)
  for (const { env = '' } of formatted) {
    const message = failureOf(t, null, { [env]: '99 3 * * */' })
    t.match(message, new RegExp(`^${env}: .* is not .*(such as|without) .*\\. Set it to `), env)
    t.notMatch(message, /\^|\\S|\[\^/, env)
  }
  for (const { path, schema } of SETTINGS) {
    t.notOk(schema.pattern ?? schema.items?.pattern, `${path.join('.')} has a format in place of a regular expression`)
  }
})

t.test('a schedule with H has one valid time for each task', async (t) => {
  for (const cron of ['H H(0-5) * * 7', 'H/15 * * * *', 'H(0-29)/10 H H * H', '5 4 H(10-20) H(jan-mar) mon-thu']) {
    const fixed = fixTimes(cron, 'scan_library')
    t.notMatch(fixed, 'H')
    t.ok(isCron(fixed), fixed)
    t.equal(fixTimes(cron, 'scan_library'), fixed)
  }
  const seeds = Array.from({ length: 200 }, (_, seed) => String(seed))
  const minutes = seeds.map((seed) => fixTimes('H,30,H * * * *', seed).split(' ', 1).join('').split(','))
  t.ok(minutes.every((values) => new Set(values).size === values.length), 'the scheduler refuses a value that is there twice')
  t.not(fixTimes('H H * * *', 'scan_library'), fixTimes('H H * * *', 'cleanup_assets'))
  t.equal(fixTimes('0-30/10 * * THU ?', 'scan_library'), '0-30/10 * * THU ?')
})

t.test('a list of a schedule with a value twice is written by its values', async (t) => {
  const lines = [
    ['1-5,3 * * * *', '1,2,3,4,5 * * * *'], ['0,0 3 * * *', '0 3 * * *'], ['50/5,55 * * * *', '50,55 * * * *'],
    ['0 3 * * mon,1,7,0', '0 3 * * 0,1'], ['0 3 L,1-3,2 jan,1 *', '0 3 1,2,3,L 1 *'], ['0 3,*/12 * 5,6 ?', '0 3,*/12 * 5,6 ?']
  ] as const
  for (const [cron, fixed] of lines) {
    t.ok(isCron(cron), cron)
    t.equal(fixTimes(cron, ''), fixed)
  }
  const item = fc.oneof(fc.nat(23).map(String), fc.constantFrom('*', '?', '*/5', 'H'),
    fc.tuple(fc.nat(23), fc.nat(23), fc.integer({ min: 1, max: 9 })).map(([one, other, step]) =>
      `${Math.min(one, other)}-${Math.max(one, other)}/${step}`))
  fc.assert(fc.property(fc.array(item, { minLength: 1, maxLength: 4 }), fc.string(), (items, seed) => {
    const hours = fixTimes(`0 ${items.join()} * * *`, seed)
    t.equal(fixTimes(hours, seed), hours, hours)
    const { values } = CronExpressionParser.parse(hours).fields.hour
    for (const hour of items.filter((one) => /^\d+$/.test(one))) t.ok(values.includes(Number(hour) as never), `${hours} has ${hour}`)
  }), { numRuns: 200 })
})

t.test('an impossible address, proxy or schedule is refused', async (t) => {
  for (const url of ['games.example.org', 'http://', 'http://:80', 'https://games.example.org:99999', 'http://a?b']) {
    t.match(failureOf(t, null, { SVC_BASE_URL: url }), /^SVC_BASE_URL: ".*" is not an address that begins with http:/, url)
  }
  const proxies = failureOf(t, null, { SVC_TRUSTED_PROXIES: '172.30.80.2,nginx' })
  t.match(proxies, /^SVC_TRUSTED_PROXIES: "nginx" is not an IP address or a network, such as 172/)
  t.match(failureOf(t, 'server: { trusted_proxies: [nginx] }'), /^server\.trusted_proxies\.0 in .*: "nginx" is not an IP address/)
  for (const cron of ['0 3 * * 5#2,1', '0 0 31 4 *', '0 0 30,31 2 *', '99 3 * * *', '0 3 * *', '0 24 * * *', '5-1 * * * *', '*/0 * * * *', '0 0 0 * *', '0 0 * * mo', 'daily']) {
    const message = failureOf(t, null, { SCHEDULED_RESCAN_CRON: cron })
    t.match(message, /^SCHEDULED_RESCAN_CRON: ".*" is not five cron fields .*remove it to use "0 3 \* \* \*"\.$/, cron)
  }
  for (const cron of ['0 0 29 2 *', '0 0 31 4,5 *', '*/5 0-6,22 1,15 jan-MAR mon-fri', '0 3 L * 5#2', 'H H(0-5) * * 7', '0-30/10 * * * ?']) {
    t.equal(tasksConfig.of(load(t, null, { SCHEDULED_RESCAN_CRON: cron }).config).scheduled_rescan_cron, cron)
  }
  t.match(failureOf(t, null, { SCHEDULED_UPDATE_LAUNCHBOX_METADATA_CRON: '99 4 * * *' }),
    /^SCHEDULED_UPDATE_LAUNCHBOX_METADATA_CRON: "99 4 \* \* \*" is not five cron fields .*\. Correct it or remove it\.$/)
  t.match(failureOf(t, 'plugins: { launchbox: { refresh_cron: daily }, ra: { progress_cron: 5 } }'),
    /^plugins\.launchbox\.refresh_cron in .*: "daily" is not five.*\nplugins\.ra\.progress_cron in .*: 5 is not five/)
  for (const url of ['postgres://svc:100%@db/svc', 'postgres://svc:a@db:port/svc']) {
    t.match(failureOf(t, null, { SVC_DATABASE_URL: url }), /^SVC_DATABASE_URL: the value given is not an address/, url)
  }
  for (const url of ['postgres://svc:p%40ss@db:5432/svc?sslmode=require', 'postgresql:///svc?host=/run/postgresql', 'postgres://svc:a@/svc?host=/run']) {
    t.equal(load(t, null, { SVC_DATABASE_URL: url }).config.database.url, url)
  }
})

t.test('a misspelt variable is named with the setting that it resembles', async (t) => {
  const { warnings } = load(t, null, {
    SVC_TRUSTED_PROXY: '172.30.80.2', SVC_LIBRARY: '/srv', SVC_BSAE_URL: 'http://a', SVC_APPRISE_API_URL: 'http://apprise', SVC_NEW_PASSWORD: 'x'
  })
  t.same(warnings, [
    'SVC_TRUSTED_PROXY is not a setting of the server and is ignored; did you mean SVC_TRUSTED_PROXIES?',
    'SVC_LIBRARY is not a setting of the server and is ignored; did you mean SVC_LIBRARY_DIR?',
    'SVC_BSAE_URL is not a setting of the server and is ignored; did you mean SVC_BASE_URL?'
  ])
})

t.test('characters that only a shell removes are named, and make no folder', async (t) => {
  const folder = t.testdir({})
  const words = { '~/games': /begins with '~'/, [`"${folder}/games"`]: /is enclosed in quotation marks/, [`${folder}/games\n`]: /ends with a line break/ }
  for (const [path, problem] of Object.entries(words)) {
    t.throws(() => loadConfig({ SVC_DATA_DIR: path }), { constructor: StartError, message: problem })
    t.notOk(existsSync(path))
    t.match(failureOf(t, null, { SVC_LIBRARY_DIR: path }), problem)
    t.match(failureOf(t, `libraries: { games: { path: ${JSON.stringify(path)} } }`), problem)
  }
  const { warnings } = load(t, null, { SMTP_PASSWORD: "'hunter2'", SVC_ADMIN_PASSWORD: 'hunter2hunter2\n', SVC_PORT: '81\n' })
  t.same(warnings.toSorted(), [
    'the value of SMTP_PASSWORD includes the quotation marks around it; remove them',
    'the value of SVC_ADMIN_PASSWORD includes the line break at its end; remove it'
  ])
})

t.test('an unwritable data directory or unreadable file is named with the remedy', async (t) => {
  const folder = t.testdir({ file: '', data: { 'config.yml': {} }, keyed: { 'secret.key': {} } })
  const fails = (dataDir: string, message: RegExp) => {
    t.throws(() => loadConfig({ SVC_DATA_DIR: join(folder, dataDir) }), { exitCode: 1, message })
  }
  fails('file', /^The data directory .* cannot be used: .* move the file away, or set SVC_DATA_DIR to another folder\.$/)
  fails('data', /config\.yml cannot be read: .*Give this user the right to read it, or move it away\.$/)
  fails('keyed', /secret\.key cannot be read: .*the right to read it, or run this as the user of the server\.$/)
})

const NOBODY = 65_534

/** Runs work with the rights of a user who is not root. */
function runAsNobody (work: () => void): void {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    work()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

t.test('a data directory that is closed to this user is named', { skip: process.platform === 'win32' }, async (t) => {
  const dataDir = join(t.testdir({ closed: {} }), 'closed')
  chmodSync(dataDir, 0)
  runAsNobody(() => {
    t.throws(() => loadConfig({ SVC_DATA_DIR: dataDir }),
      { exitCode: 1, message: /^The data directory .*closed cannot be used: EACCES.* Give this user the right to write there, or set SVC_DATA_DIR/ })
  })
  chmodSync(dataDir, 0o700)
})

t.test('a wrong secret is not shown', async (t) => {
  const message = failureOf(t, null, { SVC_DATABASE_URL: 'mysql://me:hunter2@db/svc' })
  t.match(message, /^SVC_DATABASE_URL: the value given is not an address such as postgres:/)
  t.notMatch(message, 'hunter2')
  for (const yaml of ['database: "postgres://me:hunter2@db/svc"', 'plugins: { igdb: hunter2 }', 'plugins: hunter2']) {
    t.match(failureOf(t, yaml), /: the value given is not a section of keys/, yaml)
  }
})

t.test('a key that no setting has is a warning, not an error', async (t) => {
  const { warnings } = load(t, 'servr: { port: 1 }\nserver: { prot: 2 }\nscan: { gamelist: { export: true } }\nplugins: { x: { y: 1 } }')
  t.equal(warnings.length, 2, 'what exporters and plugins read is theirs to check')
  t.match(warnings[0], /^servr in .*config\.yml is not a setting and is ignored/)
  t.match(warnings[1], /^server\.prot in /)
})

t.test('a file that is no YAML or no mapping stops the start and is named', async (t) => {
  t.match(failureOf(t, 'server: { port: 1'), /config\.yml is not valid YAML: .* line 1.* Correct the file or move it away\./s)
  t.match(failureOf(t, '- a\n- b'), /config\.yml must hold keys and values at its top level/)
  t.match(failureOf(t, 'scan: *nothing'), /config\.yml is not valid YAML: .*nothing.* Correct the file or move it away\.$/)
  t.match(failureOf(t, 'port: 1\nport: 2'), /config\.yml is not valid YAML: .*unique/)
})

t.test('the secret key is created once, readable only by its user', async (t) => {
  const dataDir = join(t.testdir({}), 'not', 'there', 'yet')
  const first = loadConfig({ SVC_DATA_DIR: dataDir }).config.auth.secret_key
  t.match(first, /^[0-9a-f]{64}$/)
  t.equal(statSync(join(dataDir, 'secret.key')).mode & 0o777, 0o600)
  t.equal(loadConfig({ SVC_DATA_DIR: dataDir }).config.auth.secret_key, first)
  t.equal(loadConfig({ SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: KEY }).config.auth.secret_key, KEY)
  t.equal(readFileSync(join(dataDir, 'secret.key'), 'utf8').trim(), first, 'a given key does not touch the file')
})

t.test('a secret key that is too short stops the start', async (t) => {
  const dataDir = t.testdir({ 'secret.key': 'short\n' })
  t.throws(() => loadConfig({ SVC_DATA_DIR: dataDir }), { message: /secret\.key holds no usable key\. Put at least 16/ })
  t.match(failureOf(t, null, { SVC_AUTH_SECRET_KEY: 'short' }), /^SVC_AUTH_SECRET_KEY: the value given is not/)
})

t.test('the printed configuration names every variable and masks every secret', async (t) => {
  const { config } = load(t, 'plugins: { igdb: { clientSecret: do-not-print } }', {
    SVC_DATABASE_URL: 'postgres://me:hunter2@db/svc', SVC_ADMIN_PASSWORD: 'hunter3-hunter3'
  })
  const text = renderConfig(config)
  for (const secret of [KEY, 'hunter2', 'hunter3', 'do-not-print']) t.notMatch(text, secret)
  t.match(text, /^auth\.secret_key = \*{8} {3}# SVC_AUTH_SECRET_KEY$/m)
  t.match(text, /^server\.port = 8080 {3}# SVC_PORT$/m)
  t.match(text, /^plugins = \{"igdb":\["clientSecret"\]\}$/m)
  t.match(text, /^library_dir = \S+ {3}# SVC_LIBRARY_DIR$/m)
})

t.test('every section and setting has a description, and its own variable', async (t) => {
  for (const [name, section] of Object.entries(SCHEMA.properties as Record<string, TSchema>)) {
    t.match(section.description, /\S/, name)
    for (const { path, schema } of listDescribed(section, name)) t.match(schema.description, /\S/, path)
  }
  const variables = SETTINGS.flatMap(({ env }) => env ?? [])
  t.equal(new Set(variables).size, variables.length)
})

t.test('the help of a section names each setting with its type, default and variable', async (t) => {
  t.equal(await renderSection(features, 'trash'), `trash: Deleted files

  trash.keep_days
      Days that deleted ROMs and files stay in the folder .svc-trash of the library; 0 deletes them at once
      a whole number from 0 to 36500; default 30; variable TRASH_KEEP_DAYS`)
  const libraries = await renderSection(features, 'libraries')
  t.match(libraries, /^ {2}libraries\.<name>\.path\n {6}Root folder of the library\n {6}a text that is not empty; required$/m)
  t.match(await renderSection(features, 'streaming'), /^ {2}streaming\.containers\[\]\.host$/m)
  t.match(await renderSection(features, 'scan'), / {6}a list; each entry is a text that is not empty; default \["us"/)
  t.match(await renderSections(features), /^ {2}trash {8}Deleted files$/m)
  for (const name of ['nope', 'constructor']) {
    await t.rejects(renderSection(features, name), { message: /^The configuration has no section '.*'\. The sections are: data_dir, .*trash/, exitCode: 2 })
  }
})

t.test('two sections of one name are an error', async (t) => {
  const twice = defineSection('server', Type.Object({}))
  t.throws(() => createConfigSchema([twice]), { message: "Two sections of the configuration have the name 'server'" })
})

t.test('the configuration object cannot be changed', async (t) => {
  const { config } = load(t, 'plugins: { igdb: { limits: { a: 1 } } }')
  t.throws(() => { Object.assign(config.server, { port: 1 }) }, TypeError)
  t.throws(() => { Object.assign(config.plugins.igdb ?? {}, { a: 1 }) }, TypeError)
})

t.test('live sections follow the file; all others stay as they were', async (t) => {
  const dataDir = t.testdir({ 'config.yml': 'exclude: { platforms: [a] }\nserver: { port: 81 }\n' })
  const environment = { SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: KEY, SCAN_LANGUAGE_PRIORITY: 'fr' }
  const write = (text: string) => { writeFileSync(join(dataDir, 'config.yml'), text) }
  const { config } = loadConfig(environment)
  const before = { ...config }
  const exclude = excludeConfig.of(config)
  t.equal(excludeConfig.of(config), exclude, 'nothing is read anew while the file stays as it is')
  write('exclude: { platforms: [a, b] }\nserver: { port: 82 }\nscan: { priority: { language: [de] } }\n')
  t.same(excludeConfig.of(config).platforms, ['a', 'b'])
  t.equal(config.server.port, 81)
  t.same(config.scan.priority.language, ['fr'], 'a variable still wins')
  t.same(excludeConfig.of(before).platforms, ['a'], 'a copy is a state of it')
  t.throws(() => { Object.assign(excludeConfig.of(config), { platforms: [] }) }, TypeError)
  t.throws(() => { Object.assign(config, { exclude }) }, TypeError)
  unlinkSync(join(dataDir, 'config.yml'))
  t.same(excludeConfig.of(config).platforms, [])
})

t.test('an unusable file keeps the former settings and reports the reason', async (t) => {
  const dataDir = t.testdir({ 'config.yml': 'exclude: { platforms: [a] }\n' })
  const write = (text: string) => { writeFileSync(join(dataDir, 'config.yml'), text) }
  const { config } = loadConfig({ SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: KEY })
  t.equal(config.file.findProblem(), null)
  write('exclude: { platforms: [a')
  t.same(excludeConfig.of(config).platforms, ['a'])
  t.match(config.file.findProblem(), /is not valid YAML/)
  write('exclude: { platforms: 12 }')
  t.match(config.file.findProblem(), /^exclude\.platforms in .*: 12 is not a list/)
  write('exclude: { platforms: [b, c] }')
  t.same(excludeConfig.of(config).platforms, ['b', 'c'])
  t.equal(config.file.findProblem(), null)
})

t.test('a file that can be read again is followed', { skip: process.platform === 'win32' }, async (t) => {
  const dataDir = t.testdir({ 'config.yml': 'exclude: { platforms: [a] }\n' })
  const file = join(dataDir, 'config.yml')
  const { config } = loadConfig({ SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: KEY })
  const platforms = () => excludeConfig.of(config).platforms.includes('b')
  chmodSync(dataDir, 0o755)
  writeFileSync(file, 'exclude: { platforms: [b] }\n')
  chmodSync(file, 0)
  runAsNobody(() => { t.match(config.file.findProblem(), /cannot be read: EACCES/) })
  chmodSync(file, 0o644)
  runAsNobody(() => {
    t.equal(config.file.findProblem(), null, 'after a change of its rights')
    t.ok(platforms())
  })
  chmodSync(dataDir, 0)
  runAsNobody(() => { t.match(config.file.findProblem(), /EACCES/) })
  chmodSync(dataDir, 0o755)
  runAsNobody(() => { t.equal(config.file.findProblem(), null, 'after a change of the rights on its folder') })
})

t.test('a later process has the settings of the start and follows live sections', async (t) => {
  const text = 'exclude: { platforms: [a] }\nserver: { port: 81 }\n'
  const dataDir = t.testdir({ 'config.yml': text })
  const environment = { SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: KEY }
  const write = (changed: string) => { writeFileSync(join(dataDir, 'config.yml'), changed) }
  t.equal(loadConfig(environment).config.file.text, text)
  write('exclude: { platforms: [a, b] }\nserver: { port: 82 }\n')
  const { config } = loadConfig(environment, text)
  t.equal(config.server.port, 81)
  t.same(excludeConfig.of(config).platforms, ['a', 'b'])
  write('server: { port: [')
  t.throws(() => loadConfig(environment), /is not valid YAML/)
  const later = loadConfig(environment, text).config
  t.same(excludeConfig.of(later).platforms, ['a'])
  t.match(later.file.findProblem(), /is not valid YAML/)
})

t.test('every key of a config.yml for RomM is a setting', async (t) => {
  const { config, warnings } = load(t, `
exclude: { platforms: [], roms: { single_file: { extensions: [], names: [] },
  multi_file: { names: [], parts: { extensions: [], names: [] } } } }
system: { platforms: { gc: ngc }, versions: { naomi: arcade } }
filesystem: { roms_folder: roms, firmware_folder: bios, skip_hash_calculation: true,
  structure: { default: 'roms/{platform}/{game}', firmware: 'bios/{platform}' } }
scan: { priority: { metadata: [igdb], artwork: [igdb], cover: [], screenshot: [ss], manual: [ss], region: [us],
  region_mode: prefer_config, language: [en] }, media: [box2d],
  gamelist: { export: true, media: { thumbnail: box2d, image: screenshot } }, pegasus: { export: true } }
emulatorjs: { debug: true, cache_limit: null, disable_auto_unload: true, disable_batch_bootup: true,
  netplay: { enabled: true, ice_servers: [{ urls: 'turn:turn.example', username: me, credential: hunter2 }] },
  settings: { default: { shader: crt, volume: 0.5, rewind: true } },
  controls: { snes9x: { 0: { 0: { value: x, value2: BUTTON_2 } }, 3: { 8: { value: 13 } } } } }
streaming: { enabled: true, containers: [{ platform: ps2, host: 'https://a.example', broker_host: b, label: One }] }
`)
  t.same(warnings, [])
  t.equal(emulatorjsConfig.of(config).settings.default?.volume, 0.5)
  t.same(config.scan.priority.cover, [], 'no order of its own is another thing than none at all')
  t.notMatch(renderConfig(config), 'hunter2')
})

t.test('paths are absolute', async (t) => {
  const dataDir = t.testdir({})
  mkdirSync(join(dataDir, 'games'))
  writeFileSync(join(dataDir, 'config.yml'), 'library_dir: games\n')
  const { config } = loadConfig({ SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: KEY })
  t.match(config.library_dir, /^(\/|[A-Z]:\\).*games$/)
  t.equal(load(t, null).config.library_dir, join(load(t, null).config.data_dir, 'library'))
})

t.test('numbers and switches of the environment are parsed', async (t) => {
  fc.assert(fc.property(fc.integer(), (number) => coerceText(` ${number} `, Type.Integer()) === number))
  fc.assert(fc.property(fc.string(), (text) => {
    const read = coerceText(text, Type.Integer())
    return typeof read === 'number' ? !Number.isNaN(read) : read === text
  }))
  for (const word of ['true', '1', 'Yes', 'ON']) t.equal(coerceText(word, Type.Boolean()), true, word)
  for (const word of ['false', '0', 'No', 'off']) t.equal(coerceText(word, Type.Boolean()), false, word)
  t.same(coerceText(' a, b ,,c', Type.Array(Type.String())), ['a', 'b', 'c'])
})

t.test('the base URL gives the prefix and, with a real host, absolute links', async (t) => {
  const of = (url: string) => {
    const { config } = load(t, null, { SVC_BASE_URL: url })
    return [basePath(config), shareableBaseUrl(config)]
  }
  t.same(of('https://home.example/games/'), ['/games', 'https://home.example/games'])
  t.same(of('https://home.example'), ['', 'https://home.example'])
  for (const url of ['http://0.0.0.0', 'http://localhost:8080', 'http://127.0.0.2', 'http://[::1]:80', 'http://x.localhost']) {
    t.same(of(url), ['', null], url)
  }
  t.match(failureOf(t, null, { SVC_BASE_URL: 'home.example' }), /^SVC_BASE_URL: "home\.example" is not an address that begins with http:/)
})

t.test('a pooler takes the statements of requests, and nothing else', async (t) => {
  const urls = { SVC_DATABASE_URL: 'postgres://u@pooler:6432/svc', SVC_DATABASE_DIRECT_URL: 'postgres://u@db/svc' }
  const { config } = load(t, null, urls)
  t.equal(poolerUrlOf(config), urls.SVC_DATABASE_URL)
  t.equal(directUrlOf(config), urls.SVC_DATABASE_DIRECT_URL)
  t.equal(preparesStatements(config), false)
  t.equal(preparesStatements(load(t, null, { ...urls, SVC_DATABASE_PREPARED_STATEMENTS: 'true' }).config), true)
  const { config: alone } = load(t, null, { SVC_DATABASE_URL: urls.SVC_DATABASE_URL })
  t.equal(poolerUrlOf(alone), undefined)
  t.equal(directUrlOf(alone), urls.SVC_DATABASE_URL)
  t.equal(preparesStatements(alone), true)
  t.match(failureOf(t, null, { SVC_DATABASE_DIRECT_URL: urls.SVC_DATABASE_DIRECT_URL }), /without SVC_DATABASE_URL\. Set SVC_DATABASE_URL/)
})

t.test('an internal address is a host with a port', async (t) => {
  for (const address of ['10.0.0.5:8081', 'web1:8081', '[fd00::5]:8081']) {
    t.equal(load(t, null, { SVC_INTERNAL_ADDRESS: address }).config.cluster.internal_address, address)
  }
  t.equal(load(t, null).config.cluster.internal_address, undefined)
  for (const address of ['10.0.0.5', ':8081', 'http://web1:8081', 'web1:0', 'web1:99999', 'fd00::5:8081', 'web1:8081/x']) {
    t.match(failureOf(t, null, { SVC_INTERNAL_ADDRESS: address }), /SVC_INTERNAL_ADDRESS: .* is not a host or an IP address with a port/, address)
  }
})
