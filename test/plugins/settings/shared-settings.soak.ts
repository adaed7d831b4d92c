import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { setSettings } from '../../../core/config/environment.ts'
import { prepareHost } from '../../../core/server.ts'
import { examineHosts } from '../../../plugins/doctor/hosts.ts'
import { features } from '../../../plugins/index.ts'
import { mailConfig } from '../../../plugins/mail/config.ts'
import { prepareSettings } from '../../../plugins/settings/prepare-settings.ts'
import { loadConfig } from '../../load-config.ts'
import { type TestApp, buildTestApp, createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'

// Hosts on one database, each with a data directory and a config.yml of its own.

const KEY = 'a key of all hosts'
const PORT = 'server: { port: 8123 } # of this machine\n'

interface Content {
  scan?: { media: string[] }
  exclude?: { platforms?: string[] }
  server?: object
  emulatorjs?: object
}
interface Line { msg: string, sections?: string[], reason?: string }

/** A machine: its data directory stays while its server starts and ends. */
function createHost (t: Test, database: string, text: string, key = KEY) {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-settings-'))
  t.teardown(() => { rmSync(dataDir, { recursive: true, force: true }) })
  const file = join(dataDir, 'config.yml')
  writeFileSync(file, text)
  const env = { SVC_DATABASE_URL: database, SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: key }
  const lines: Line[] = []
  const logger = pino({}, { write (line: string) { lines.push(JSON.parse(line) as Line) } })
  return {
    env,
    file,
    lines,
    write: (content: string) => { writeFileSync(file, content) },
    text: () => readFileSync(file, 'utf8'),
    read: () => parse(readFileSync(file, 'utf8')) as Content,
    former: () => readdirSync(dataDir).filter((name) => name.startsWith('config.former-'))
      .map((name) => readFileSync(join(dataDir, name), 'utf8')),
    reasons: () => lines.flatMap(({ reason }) => reason ?? []),
    names: (msg: RegExp) => lines.filter((line) => msg.test(line.msg)).flatMap(({ sections = [] }) => sections),
    /** Compares the file as a start does, without a server. */
    prepare: () => prepareSettings({ config: loadConfig(env).config, databaseUrl: database, log: logger }),
    run: (withoutAdmin = true): Promise<TestApp> =>
      buildTestApp(t, { env, databaseUrl: database, logger, withoutAdmin })
  }
}

async function query (database: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const exclude = async ({ app, admin }: TestApp, value: string, headers = admin) => (await app.inject({
  method: 'POST', url: '/api/config/exclude', headers, payload: { exclusion_type: 'EXCLUDED_PLATFORMS', exclusion_value: value }
})).statusCode

t.test('changes over the API and by hand reach the other host, and none is lost', async (t) => {
  const database = await createTestDatabase(t)
  const [one, two] = [createHost(t, database, 'scan: { media: [box2d] }\n'), createHost(t, database, PORT)]
  t.equal(await one.prepare(), false)
  t.equal(await two.prepare(), true)
  t.same(two.read(), { server: { port: 8123 }, scan: { media: ['box2d'] } })
  t.match(two.text(), /# of this machine/)
  const [first, second] = [await one.run(false), await two.run()]

  // Both at once: the second extends the list of the first.
  t.same(await Promise.all([exclude(first, 'one'), exclude(second, 'two', first.admin)]), [200, 200])
  const hasBoth = ({ read }: typeof one) => ['one', 'two'].every((name) => read().exclude?.platforms?.includes(name))
  await until(() => hasBoth(one) && hasBoth(two), 'both exclusions on both hosts')
  for (const { app } of [first, second]) {
    const shown = (await app.inject({ url: '/api/config', headers: first.admin })).json<{ EXCLUDED_PLATFORMS: string[] }>()
    t.ok(['one', 'two'].every((name) => shown.EXCLUDED_PLATFORMS.includes(name)))
  }

  one.write(`${one.text()}emulatorjs: { debug: true }\nserver: { drain_seconds: 7 }\n`)
  await until(() => 'emulatorjs' in two.read(), 'the edit of the file')
  t.same(two.read().server, { port: 8123 }, 'settings of a machine stay its own')
  t.same(two.former(), [], 'nobody had edited the file')
  t.same(await query(database, "select 1 from shared_settings where sealed like '%debug%'"), [], 'the values are sealed')
  t.match((await examineHosts({ config: first.config }, first.app.pg)).map(({ message }) => message).join('\n'),
    /The database has the settings of config\.yml for all hosts; the last change was emulatorjs, on /)
})

const media = (name: string) => `scan: { media: [${name}] } # ${name}\n`
const mediaOf = (...hosts: ReturnType<typeof createHost>[]) => hosts.map(({ read }) => read().scan?.media[0])
/** Gives a file the age of an hour. */
const age = (file: string) => { utimesSync(file, Date.now() / 1_000 - 3_600, Date.now() / 1_000 - 3_600) }

t.test('of two edits while a host is off the later one wins, and the log says so', async (t) => {
  const database = await createTestDatabase(t)
  const [one, two] = [createHost(t, database, media('box2d')), createHost(t, database, '')]
  await one.prepare()
  await two.prepare()
  one.write(media('video'))
  await one.prepare()
  two.write(media('logo'))
  age(two.file)
  await two.prepare()
  t.same(mediaOf(one, two), ['video', 'video'])
  t.same(two.names(/had other settings than the other hosts/), ['scan'])
  t.same(two.former(), [media('logo')], 'the edit of the file is kept beside it')

  one.write(media('fanart'))
  await one.prepare()
  two.write(media('manual'))
  utimesSync(two.file, Date.now() / 1_000 + 5, Date.now() / 1_000 + 5)
  await two.prepare()
  t.same(two.names(/no longer applies/), ['scan'])
  await one.prepare()
  t.same(mediaOf(one, two), ['manual', 'manual'])
  t.same(one.former(), [])

  one.write('')
  await one.prepare()
  await two.prepare()
  t.notOk('scan' in (two.read() ?? {}), 'a removed section')
})

t.test('a new host with another file gets the settings of the others, and says so', async (t) => {
  const database = await createTestDatabase(t)
  const text = `${media('logo')}emulatorjs: { debug: true }\n`
  const [one, two] = [createHost(t, database, media('box2d')), createHost(t, database, text)]
  await one.prepare()
  t.equal(await two.prepare(), true)
  await one.prepare()
  const all = { scan: { media: ['box2d'] }, emulatorjs: { debug: true } }
  t.same([one.read(), two.read()], [all, all], 'a section that no host has yet goes to all')
  t.same(two.names(/had other settings than the other hosts/), ['scan'])
  t.same(two.former(), [text])
  two.write(text)
  await two.prepare()
  await one.prepare()
  t.same(one.read(), { scan: { media: ['logo'] }, emulatorjs: { debug: true } }, 'an edit after that counts for all hosts')
})

t.test('a database that was restored alone does not replace newer files', async (t) => {
  const database = await createTestDatabase(t)
  const [one, two] = [createHost(t, database, media('box2d')), createHost(t, database, '')]
  await one.prepare()
  await query(database, 'create table former as select * from shared_settings')
  one.write(media('video'))
  await one.prepare()
  await two.prepare()
  await query(database, 'delete from shared_settings; insert into shared_settings select * from former')
  t.equal(await two.prepare(), false)
  await one.prepare()
  t.same(mediaOf(one, two), ['video', 'video'])
})

t.test('a missing file takes no settings from the other hosts', async (t) => {
  const database = await createTestDatabase(t)
  const [one, two] = [createHost(t, database, media('box2d')), createHost(t, database, '')]
  await one.prepare()
  await two.prepare()
  rmSync(two.file)
  t.equal(await two.prepare(), true)
  t.equal(await one.prepare(), false)
  t.same(mediaOf(one, two), ['box2d', 'box2d'])
})

t.test('a host follows its file again after it could not be read', async (t) => {
  const database = await createTestDatabase(t)
  const one = createHost(t, database, media('box2d'))
  await one.run()
  const notify = () => query(database, "select pg_notify('svc_shared_settings', '')")
  const shares = () => one.names(/apply to all hosts from now on/).length
  await until(() => shares() === 1, 'the first comparison')
  rmSync(one.file)
  symlinkSync(one.file, one.file)
  await notify()
  await until(() => one.lines.some(({ msg }) => /could not be compared/.test(msg)), 'the failure')
  rmSync(one.file)
  one.write(media('video'))
  await notify()
  await until(() => shares() === 2, 'the edit of the file')
})

t.test('a start applies all settings of the other hosts', async (t) => {
  const database = await createTestDatabase(t)
  const [one, two] = [createHost(t, database, 'mail: { host: mail.example }\n'), createHost(t, database, '')]
  await one.prepare()
  setSettings(two.env)
  t.teardown(() => { setSettings(process.env) })
  const { config } = loadConfig(two.env)
  const prepared = await prepareHost(features, { config, databaseUrl: database, log: pino({ level: 'silent' }) })
  t.same([mailConfig.of(config).host, mailConfig.of(prepared).host], [undefined, 'mail.example'])
})

t.test('a host keeps its file if the settings of the others cannot be used there', async (t) => {
  const database = await createTestDatabase(t)
  const certificate = join(t.testdir({ 'ca.pem': '' }), 'ca.pem')
  const [one, two] = [createHost(t, database, `oidc: { tls_cacertfile: ${certificate} }\n`), createHost(t, database, media('logo'))]
  await one.prepare()
  rmSync(certificate)
  t.equal(await two.prepare(), false)
  t.equal(two.text(), media('logo'))
  t.match(two.reasons(), [/cannot be used on this host: oidc\.tls_cacertfile in .*ca\.pem is missing/])

  const fixed = createHost(t, database, media('logo'))
  chmodSync(fixed.file, 0o444)
  await query(database, 'delete from shared_settings')
  await fixed.prepare()
  t.same(await query(database, 'select section from shared_settings'), [], 'a read-only file gives its settings to nobody')
  await createHost(t, database, media('video')).prepare()
  await fixed.prepare()
  t.equal(fixed.text(), media('logo'))
  t.match(fixed.reasons(), [/cannot be written, so this host keeps its own settings of scan/])
})

t.test('svc doctor names a host with forged settings or an invalid file', async (t) => {
  const database = await createTestDatabase(t)
  const [one, two] = [createHost(t, database, `${media('box2d')}mail: { host: mail.example }\n`), createHost(t, database, '')]
  await one.prepare()
  const { app, config, admin } = await one.run(false)
  const findProblem = async () => (await examineHosts({ config }, app.pg)).find(({ status }) => status === 'warn')?.message
  const notify = "; select pg_notify('svc_shared_settings', '')"
  const before = one.text()
  await query(database, "update shared_settings set sealed = (select sealed from shared_settings where section = 'mail')" + notify)
  t.match(await until(findProblem, 'the problem of a moved value'), /has other settings than all hosts: Another secret key sealed .*\(scan\)/)
  t.equal(await exclude({ app, config, admin } as TestApp, 'lost'), 409)
  t.equal(one.text(), before)

  await query(database, 'delete from shared_settings' + notify)
  await until(async () => await findProblem() === undefined, 'the settings of this host in place of deleted ones')
  one.write('scan: [\n')
  t.match(await until(findProblem, 'the problem of an invalid file'), /cannot be compared with the settings of all hosts: it is not valid YAML/)
  await two.prepare()
  t.same(mediaOf(two), ['box2d'])
})
