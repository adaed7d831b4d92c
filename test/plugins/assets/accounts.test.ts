import t from 'tap'
import { runCommand } from '../../run-command.ts'
import { shareTestApp } from '../../support.ts'
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

t.test('the command line audits new accounts and passwords without the password', async (t) => {
  const test = await fresh(t)
  const env = { SVC_DATABASE_URL: test.databaseUrl, SVC_DATA_DIR: test.config.data_dir, SVC_NEW_PASSWORD: 'a long enough one' }
  const run = (...args: string[]) => runCommand(t, ['user', ...args], env)
  t.match(await run('add', 'Carol', '--admin'), { code: 0 })
  t.match(await run('password', 'carol'), { code: 0 })
  t.match(await run('password', 'nobody'), { code: 1, output: /There is no user 'nobody'/ })
  const { rows } = await test.app.pg.query(`select event, user_id, username, address, details from audit_events
    where details ->> 'by' like 'svc user %' order by id`)
  const { rows: [carol] } = await test.app.pg.query<{ id: number }>("select id from users where username = 'carol'")
  const common = { user_id: null, username: '', address: '' }
  t.same(rows, [
    { ...common, event: 'user.created', details: { by: 'svc user add', user_id: carol?.id, username: 'carol', role: 'admin' } },
    { ...common, event: 'password.changed', details: { by: 'svc user password', user_id: carol?.id, username: 'carol' } }
  ])
})
