import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { createUsedDataDir, runSvc, settings } from './server.ts'

t.test('a port in use is reported before a database is created', async (t) => {
  const dataDir = createUsedDataDir(join(t.testdir({}), 'data'))
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const port = String((other.address() as AddressInfo).port)
  const { code, output } = await runSvc(t, ['start'], settings(dataDir, { SVC_PORT: port })).ended
  t.equal(code, 1)
  t.equal(output, `svc: Port ${port} on 127.0.0.1 is in use by another program. Stop that program, or set SVC_PORT to ` +
    'a free port.\n')
  t.notOk(existsSync(join(dataDir, 'db')))
})

t.test('a wrong setting is reported with its value and the remedy', async (t) => {
  const { code, output } = await runSvc(t, ['start'], settings(createUsedDataDir(t.testdir({})), { SVC_PORT: 'eighty' })).ended
  t.equal(code, 1)
  t.match(output, /^svc: SVC_PORT: "eighty" is not a whole number.*Set it to .*remove it to use 8080\.\n$/)
})

t.test('svc config prints the configuration without its secrets', async (t) => {
  const secrets = {
    SVC_AUTH_SECRET_KEY: 'a-key-nobody-sees', SVC_ADMIN_PASSWORD: 'hidden-password',
    SVC_DATABASE_URL: 'postgres://u:hidden-too@db.example/svc'
  }
  const { code, output } = await runSvc(t, ['config'], settings(createUsedDataDir(t.testdir({})), secrets)).ended
  t.equal(code, 0)
  t.match(output, 'server.workers = 2   # WEB_SERVER_CONCURRENCY')
  t.match(output, 'auth.secret_key = ********')
  for (const secret of Object.values(secrets)) t.notOk(output.includes(secret))
})

t.test('svc config reports what the start would log about the settings of plugins', async (t) => {
  const dataDir = createUsedDataDir(t.testdir({}))
  const file = join(dataDir, 'config.yml')
  const print = async (yaml: string) => {
    writeFileSync(file, yaml)
    return await runSvc(t, ['config'], settings(dataDir)).ended
  }
  const wrong = await print('scan: { gamelist: { export: maybe, exprt: true, media: { image: 5 } } }\nplugins: { removed: { a: 1 } }')
  t.equal(wrong.code, 0)
  t.match(wrong.output, 'server.workers = 2')
  t.same(wrong.output.split('\n').filter((line) => line.startsWith('svc: ')).map((line) => line.replace(/ The settings are: .*/, '')), [
    `svc: plugins.removed in ${file} belongs to no plugin and is ignored; remove it, or install its plugin with svc plugins add`,
    `svc: scan.gamelist.exprt in ${file} is not a setting of this exporter and is ignored; correct or remove it.`,
    `svc: scan.gamelist.export in ${file}: "maybe" is not true or false, so nothing is exported; correct or remove it`,
    'svc: the plugin @svc/exporter-gamelist is skipped: scan.gamelist.media.image in config.yml: 5 is not a text; correct or remove it'
  ])

  const refused = await print('plugins: { igdb: { clientld: x } }')
  t.equal(refused.code, 1)
  t.match(refused.output, /^svc: plugins\.igdb\.clientld in .*Did you mean plugins\.igdb\.clientId\?$/m)
  t.notMatch((await print('')).output, /^svc: /m, 'nothing is wrong')
})

t.test('a role alone needs a database that others can reach', async (t) => {
  const { code, output } = await runSvc(t, ['web'], settings(createUsedDataDir(t.testdir({})))).ended
  t.equal(code, 1)
  t.match(output, /^svc: svc web needs a database .*Set SVC_DATABASE_URL.*\n$/)
})

t.test('a command with wrong usage exits with 2', async (t) => {
  const env = settings(createUsedDataDir(t.testdir({})))
  for (const args of [['scan', '--type', 'sideways'], ['plugins', 'create', 'provider', 'Tide']]) {
    const { code, output } = await runSvc(t, args, env).ended
    t.equal(code, 2, args.join(' '))
    t.notMatch(output, /\n\s+at /)
  }
})
