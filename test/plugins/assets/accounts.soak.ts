import t from 'tap'
import { runCommand } from '../../run-command.ts'
import { shareTestApp } from '../../support.ts'
import { createClient } from './support.ts'
import { addRom } from '../roms/support.ts'

const fresh = shareTestApp(t)

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

t.test('the command line lists and restores deleted accounts, and audits the restore', async (t) => {
  const test = await fresh(t)
  const { app } = test
  const env = { SVC_DATABASE_URL: test.databaseUrl, SVC_DATA_DIR: test.config.data_dir }
  const run = (...args: string[]) => runCommand(t, ['user', ...args], env)
  t.same(await run('deleted'), { code: 0, output: 'There is nothing to restore.\n' })

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

  const { output: listed } = await run('deleted')
  const [, accountId = ''] = /^(\d+) {2}alice: 2 saves, 0 states, 0 screenshots, until \d{4}-\d\d-\d\d\n$/.exec(listed) ?? []
  t.ok(accountId)
  t.match(await run('restore', accountId, 'nobody'), { code: 1, output: /There is no user 'nobody'\. .*svc user add/ })
  t.same(await run('restore', accountId, 'BOB'),
    { code: 0, output: "2 saves, states and screenshots of 'alice' now belong to 'bob'.\n" })
  t.match(await bob.get(`/api/saves/${save.id}`), { rom_id: again, file_name: 'Game.srm' }, 'it belongs to the ROM of its name')
  t.equal(await bob.content(`/api/saves/${save.id}/content`), 'one')
  const { rows } = await app.pg.query("select username, details from audit_events where event = 'user.uploads_restored'")
  t.same(rows, [{ username: '', details: { by: 'svc user restore', user_id: bobId, username: 'alice', restored: 2 } }])
  t.match(await run('restore', accountId, 'bob'), { code: 1, output: /not found/ })
  t.same(await run('deleted'), { code: 0, output: 'There is nothing to restore.\n' })
})
