import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { Config } from '../../../core/config/config.ts'
import { StartError } from '../../../core/errors.ts'
import { createLogger } from '../../../core/log/log.ts'
import { prepareHost } from '../../../core/server.ts'
import { features } from '../../../plugins/index.ts'
import { loadConfig } from '../../load-config.ts'
import { createUsedDataDir, runSvc, settings } from '../../e2e/server.ts'
import { createTestDatabase } from '../../support.ts'

const SAVE = 'users/557365723a32/saves/snes/1/0a1b2c3d-Game.srm'
const REFUSAL = { constructor: StartError, message: /do not belong together: .* To join these two .*database adopt$/ }

const configOf = (dataDir: string): Config =>
  loadConfig({ SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: 'a key for tests only' }).config

const prepare = (config: Config, databaseUrl: string) =>
  prepareHost(features, { config, databaseUrl, log: createLogger(config, 'test') })

async function addSave (dataDir: string): Promise<void> {
  const path = join(dataDir, 'assets', SAVE)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'a save')
}

async function query<Row extends object> (url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Creates a database without an identity, as older releases did, with a user and optionally the save. */
async function createDatabase (t: Test, knowsSave: boolean): Promise<string> {
  const url = await createTestDatabase(t)
  await query(url, "insert into users (username) values ('alice')")
  if (knowsSave) {
    await query(url, `insert into assets (kind, user_id, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path)
      select 'save', id, 'snes', 'Game.sfc', 'Game.srm', 'x', $1 from users`, [SAVE])
  }
  return url
}

const identityIn = async (url: string) => (await query<{ identity: string }>(url, 'select identity from installation'))[0]?.identity
const identityOf = async (dataDir: string) => (await readFile(join(dataDir, 'identity'), 'utf8')).trim()

t.test('a data directory and its database get one identity, and keep it', async (t) => {
  const dataDir = t.testdir({})
  const url = await createTestDatabase(t)
  await prepare(configOf(dataDir), url)
  const identity = await identityOf(dataDir)
  t.match(identity, /^[0-9a-f-]{36}$/)
  t.equal(await identityIn(url), identity)
  await prepare(configOf(dataDir), url)
  t.equal(await identityOf(dataDir), identity)
})

t.test('an older installation gets an identity at its next start', async (t) => {
  const dataDir = t.testdir({})
  await addSave(dataDir)
  const url = await createDatabase(t, true)
  await prepare(configOf(dataDir), url)
  t.equal(await identityIn(url), await identityOf(dataDir))
})

t.test('several machines may share a database, with own or shared directories', async (t) => {
  const dataDir = t.testdir({ one: {}, two: {} })
  const url = await createTestDatabase(t)
  const folders = [join(dataDir, 'one'), join(dataDir, 'two')]
  await Promise.all([...folders, ...folders].map((folder) => prepare(configOf(folder), url)))
  for (const folder of folders) t.equal(await identityOf(folder), await identityIn(url))
})

t.test('saves are never used with a database that knows none of them', async (t) => {
  const dataDir = t.testdir({})
  await addSave(dataDir)
  const empty = await createTestDatabase(t)
  await t.rejects(prepare(configOf(dataDir), empty), REFUSAL, 'no identity on either side')
  t.notOk(existsSync(join(dataDir, 'identity')), 'nothing was changed')
  t.equal(await identityIn(empty), undefined)

  await prepare(configOf(dataDir), await createDatabase(t, true))
  await t.rejects(prepare(configOf(dataDir), empty), REFUSAL, 'an empty one')
  const foreign = await createTestDatabase(t)
  await prepare(configOf(t.testdir({ other: {} })), foreign)
  await addSave(dataDir)
  await writeFile(join(dataDir, 'identity'), '00000000-0000-4000-8000-000000000000\n')
  await t.rejects(prepare(configOf(dataDir), foreign), { ...REFUSAL, message: /is 00000000-.*, the database is that of / })
})

t.test('an old database backup belongs to the directory whose saves it knows', async (t) => {
  const dataDir = t.testdir({})
  await addSave(dataDir)
  await prepare(configOf(dataDir), await createDatabase(t, true))
  const identity = await identityOf(dataDir)
  const backup = await createDatabase(t, true)
  await prepare(configOf(dataDir), backup)
  t.equal(await identityIn(backup), identity)
})

t.test('an invalid identity file is reported with its remedy', async (t) => {
  const dataDir = t.testdir({ identity: 'nonsense\n' })
  await t.rejects(prepare(configOf(dataDir), await createTestDatabase(t)),
    { constructor: StartError, message: /identity holds "nonsense".*Restore the file from a backup/ })
})

t.test('svc start refuses a foreign database, and svc database adopt joins them', async (t) => {
  const dataDir = createUsedDataDir(t.testdir({}))
  const url = await createTestDatabase(t)
  await prepare(configOf(dataDir), await createDatabase(t, true))
  await addSave(dataDir)
  const env = settings(dataDir, { SVC_DATABASE_URL: url, SVC_LOG_LEVEL: 'error', SVC_AUTH_SECRET_KEY: 'a key for tests only' })
  for (const command of ['start', 'web']) {
    const { code, output } = await runSvc(t, [command], env).ended
    t.equal(code, 1, command)
    t.match(output, /^svc: The data directory .* do not belong together: .*svc\.js --data-dir .* database adopt\n$/)
  }
  const { code, output } = await runSvc(t, ['database', 'adopt'], env).ended
  t.equal(code, 0)
  t.match(output, / now belongs to this database \([0-9a-f-]{36}\)/)
  t.equal(await identityOf(dataDir), await identityIn(url))
  await prepare(configOf(dataDir), url)
  t.ok(existsSync(join(dataDir, 'assets', SAVE)))
  await rm(join(dataDir, 'identity'))
  await t.rejects(prepare(configOf(dataDir), url), REFUSAL, 'without the file its saves are foreign again')
})
