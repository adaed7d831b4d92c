import t from 'tap'
import { createChangeLog } from '../../../plugins/library-versions/change-log.ts'
import { selectVersions } from '../../../plugins/library-versions/version-rows.ts'
import { shareTestApp } from '../../support.ts'
import { addRom } from './support.ts'

const fresh = shareTestApp(t)

t.test('the log of changes tells which ROMs changed since a position', async (t) => {
  const test = await fresh(t)
  const [a, b, c] = [await addRom(test, { fs_name: 'A.sfc' }), await addRom(test, { fs_name: 'B.sfc' }), await addRom(test, { fs_name: 'C.sfc' })]
  const log = createChangeLog(() => test.app.db, 2)
  const follow = async () => await log.follow(await selectVersions(test.app.db, null))
  const edit = (ids: number[]) => test.app.pg.query("update roms set summary = 'x' where id = any($1)", [ids])
  const listChanged = (since: number) => [a, b, c].filter((id) => log.mayHaveChanged(id, since))
  const first = await follow()
  t.same(listChanged(first), [])
  await edit([a])
  const second = await follow()
  t.same([listChanged(first), listChanged(second)], [[a], []])
  t.equal(await follow(), second, 'an unchanged library needs no statement')
  await edit([b])
  const third = await follow()
  t.same([listChanged(first), listChanged(second), listChanged(third)], [[a, b], [b], []])
  await edit([c])
  const fourth = await follow()
  t.same([listChanged(first), listChanged(fourth)], [[a, b, c], []], 'of too many changes it forgets which')
  await edit([a])
  await follow()
  t.same([listChanged(third), listChanged(fourth)], [[a, b, c], [a]])
})

t.test('after a sleep of the machine, all ROMs count as changed', async (t) => {
  const test = await fresh(t)
  const [a, b] = [await addRom(test, { fs_name: 'A.sfc' }), await addRom(test, { fs_name: 'B.sfc' })]
  const log = createChangeLog(() => test.app.db)
  const follow = async () => await log.follow(await selectVersions(test.app.db, null))
  const first = await follow()
  await test.app.pg.query("update roms set summary = 'x' where id = $1", [a])
  await test.app.pg.query('delete from rom_changes')
  const awake = Date.now.bind(Date)
  t.intercept(Date, 'now', { value: () => awake() + 13 * 3_600_000 })
  const second = await follow()
  for (const id of [a, b]) t.same([first, second].map((since) => log.mayHaveChanged(id, since)), [true, false])
})

t.test('a transaction that commits late counts as a change after its commit', async (t) => {
  const test = await fresh(t)
  const id = await addRom(test, { fs_name: 'A.sfc' })
  const log = createChangeLog(() => test.app.db)
  const follow = async () => await log.follow(await selectVersions(test.app.db, null))
  const client = await test.app.pg.connect()
  await client.query('begin')
  await client.query("update roms set summary = 'x' where id = $1", [id])
  await addRom(test, { fs_name: 'B.sfc' })
  const before = await follow()
  await addRom(test, { fs_name: 'C.sfc' })
  await follow()
  t.notOk(log.mayHaveChanged(id, before))
  await client.query('commit')
  client.release()
  await follow()
  t.ok(log.mayHaveChanged(id, before))
})
