import t, { type Test } from 'tap'
import { listDeleted, restoreDeleted } from '../../../plugins/assets/cli.ts'
import { features } from '../../../plugins/index.ts'
import { addUser, setPassword } from '../../../plugins/users/cli.ts'
import { type TestApp, shareTestApp } from '../../support.ts'
import { type AssetItem, createClient, listStored } from './support.ts'
import { addRom } from '../roms/support.ts'

const fresh = shareTestApp(t)

t.test('an administrator gives the uploads of a deleted account to another account', async (t) => {
  const test = await fresh(t)
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const admin = createClient(test, test.admin)
  const alice = createClient(test, await test.createUser('alice'))
  const bob = createClient(test, await test.createUser('bob'))
  const { id } = await alice.get('/api/users/me')
  const { id: bobId } = await bob.get('/api/users/me')
  const save = await alice.save({ rom_id: rom }, 'Game.srm', 'one')
  await alice.save({ rom_id: rom }, 'Game.srm', 'two')
  const twin = await alice.save({ rom_id: rom }, 'Twin.srm', 'hers')
  await bob.save({ rom_id: rom }, 'Twin.srm', 'his')
  const stored = await listStored(test)
  t.equal((await admin.call('DELETE', `/api/users/${id}`)).statusCode, 200)
  t.same(await listStored(test), stored)
  const [account, ...others] = await admin.get<{ id: number, username: string, saves: number }[]>('/api/users/deleted')
  t.match(account, { username: 'alice', saves: 2, states: 0, screenshots: 0, file_size_bytes: 10 })
  t.same(others, [])
  const path = `/api/users/deleted/${account?.id}/restore`
  t.equal((await bob.call('POST', path, { user_id: bobId })).statusCode, 403)
  t.equal((await admin.call('POST', path, { user_id: 9999 })).statusCode, 404)
  t.same((await admin.call('POST', path, { user_id: bobId })).json(), { restored: 2 })
  t.equal(await bob.content(`/api/saves/${save.id}/content`), 'two')
  const [version] = await bob.versions(save.id)
  t.equal(await bob.content(`/api/saves/${save.id}/versions/${version?.id}/content`), 'one')
  t.match((await bob.get<AssetItem[]>('/api/saves/deleted')).map((row) => row.id), [twin.id], 'his own of that name stays current')
  t.same(await admin.get('/api/users/deleted'), [])
  t.equal((await admin.call('POST', path, { user_id: bobId })).statusCode, 404)
})

t.test('uploads restored to an account that is being deleted are not lost', async (t) => {
  const test = await fresh(t)
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const admin = createClient(test, test.admin)
  const alice = createClient(test, await test.createUser('alice'))
  const { id } = await alice.get('/api/users/me')
  await alice.save({ rom_id: rom }, 'Game.srm', 'one')
  await admin.call('DELETE', `/api/users/${id}`)
  for (let round = 0; round < 8; round++) {
    const next = createClient(test, await test.createUser(`next ${round}`))
    const { id: nextId } = await next.get('/api/users/me')
    const [account] = await admin.get<{ id: number }[]>('/api/users/deleted')
    const [restored, deleted] = await Promise.all([
      admin.call('POST', `/api/users/deleted/${account?.id}/restore`, { user_id: nextId }),
      admin.call('DELETE', `/api/users/${nextId}`)
    ])
    t.ok([200, 404].includes(restored.statusCode), restored.body)
    t.equal(deleted.statusCode, 200)
    t.match(await admin.get('/api/users/deleted'), [{ saves: 1 }])
  }
})

/** Returns the output of a command that runs beside the server. */
async function print (t: Test, { databaseUrl, config }: TestApp, command: () => Promise<void>): Promise<string> {
  const env = { SVC_DATABASE_URL: databaseUrl, SVC_DATA_DIR: config.data_dir }
  Object.assign(process.env, env)
  const output = t.capture(process.stdout, 'write', () => true)
  try {
    await command()
    return output().map(({ args }) => String(args[0])).join('')
  } finally {
    output.restore()
    for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name)
  }
}

t.test('the command line lists and restores deleted accounts, and audits the restore', async (t) => {
  const test = await fresh(t)
  const { app } = test
  const run = (command: () => Promise<void>) => print(t, test, command)
  t.equal(await run(() => listDeleted(features)), 'There is nothing to restore.\n')

  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const alice = createClient(test, await test.createUser('alice'))
  const bob = createClient(test, await test.createUser('bob'))
  const { id } = await alice.get('/api/users/me')
  const { id: bobId } = await bob.get('/api/users/me')
  const save = await alice.save({ rom_id: rom }, 'Game.srm', 'one')
  await alice.save({ rom_id: rom }, 'Other.srm', 'two')
  t.equal((await createClient(test, test.admin).call('DELETE', `/api/users/${id}`)).statusCode, 200)
  // The ROM was gone for a while and returns as a new row.
  await app.pg.query('with gone as (delete from roms where id = $1) delete from former_roms', [rom])
  await app.pg.query('delete from platforms')
  const again = await addRom(test, { fs_name: 'Game.sfc' })

  const [, accountId] = /^(\d+) {2}alice: 2 saves, 0 states, 0 screenshots, until \d{4}-\d\d-\d\d\n$/.exec(await run(() => listDeleted(features))) ?? []
  t.ok(accountId)
  await t.rejects(run(() => restoreDeleted(features, Number(accountId), 'nobody')), { message: /There is no user 'nobody'\. .*svc user add/ })
  t.equal(await run(() => restoreDeleted(features, Number(accountId), 'BOB')),
    "2 saves, states and screenshots of 'alice' now belong to 'bob'.\n")
  t.match(await bob.get(`/api/saves/${save.id}`), { rom_id: again, file_name: 'Game.srm' }, 'it belongs to the ROM of its name')
  t.equal(await bob.content(`/api/saves/${save.id}/content`), 'one')
  const { rows } = await app.pg.query("select username, details from audit_events where event = 'user.uploads_restored'")
  t.same(rows, [{ username: '', details: { by: 'svc user restore', user_id: bobId, username: 'alice', restored: 2 } }])
  await t.rejects(run(() => restoreDeleted(features, Number(accountId), 'bob')), { message: /not found/ })
  t.equal(await run(() => listDeleted(features)), 'There is nothing to restore.\n')
})

t.test('the command line audits new accounts and passwords without the password', async (t) => {
  const test = await fresh(t)
  const run = (command: () => Promise<void>) => print(t, test, command)
  process.env.SVC_NEW_PASSWORD = 'a long enough one'
  t.teardown(() => { Reflect.deleteProperty(process.env, 'SVC_NEW_PASSWORD') })
  await run(() => addUser(features, 'Carol', { email: '', admin: true }))
  await run(() => setPassword(features, 'carol', {}))
  await t.rejects(run(() => setPassword(features, 'nobody', {})), { message: /There is no user 'nobody'/ })
  const { rows } = await test.app.pg.query(`select event, user_id, username, address, details from audit_events
    where details ->> 'by' like 'svc user %' order by id`)
  const { rows: [carol] } = await test.app.pg.query<{ id: number }>("select id from users where username = 'carol'")
  const common = { user_id: null, username: '', address: '' }
  t.same(rows, [
    { ...common, event: 'user.created', details: { by: 'svc user add', user_id: carol?.id, username: 'carol', role: 'admin' } },
    { ...common, event: 'password.changed', details: { by: 'svc user password', user_id: carol?.id, username: 'carol' } }
  ])
})
