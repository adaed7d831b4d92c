import t from 'tap'
import { buildTestApp, shareTestApp } from '../../support.ts'
import { addRom } from './support.ts'
import { all, get, idOf, readAll, type Page } from './list-cache-support.ts'

const fresh = shareTestApp(t)

t.test('a change shows at once in every worker', async (t) => {
  const test = await fresh(t)
  const other = await buildTestApp(t, { databaseUrl: test.databaseUrl, withoutAdmin: true })
  const alice = await test.createUser('alice')
  const a = await addRom(test, { fs_name: 'A (USA).sfc' })
  const b = await addRom(test, { fs_name: 'B (USA).sfc' })
  const expect = async (ids: number[], regions: string[], what: string) => {
    const expected = all(ids, regions, ids.length === 0 ? [] : [ids.length])
    for (const one of [test, other]) t.same(await readAll(one, alice), expected, what)
  }
  await expect([a, b], ['USA'], 'as it is')
  await test.app.pg.query("update roms set name_sort_key = 'z', regions = '{EU}' where id = $1", [a])
  await expect([b, a], ['EU', 'USA'], 'an edit')
  const c = await addRom(other, { fs_name: 'C (USA).sfc' })
  await expect([b, c, a], ['EU', 'USA'], 'a ROM more')
  await test.app.inject({ method: 'PUT', url: `/api/roms/${b}/props`, headers: alice, payload: { hidden: true } })
  const marked = await readAll(other, alice)
  t.same([marked.ids, marked.shown, marked.identifiers, marked.counts], [[c, a], [c, a], [c, a], [3]], 'an own mark')
  t.same((await get<Page>(test, test.admin, 'roms')).rom_id_index, [b, c, a], 'which is of nobody else')
  t.same((await get<Page>(test, alice, 'roms?statuses=hidden')).rom_id_index, [b])
  await other.app.inject({ method: 'PUT', url: `/api/roms/${b}/props`, headers: alice, payload: { hidden: false } })
  await test.app.pg.query('insert into hidden_entities (entity, entity_id, user_id) values ($1, $2, $3)', ['roms', c, await idOf(test, 'alice')])
  await expect([b, a], ['EU', 'USA'], 'a rule')
  await test.app.pg.query('delete from platforms')
  await expect([], [], 'everything gone')
})
