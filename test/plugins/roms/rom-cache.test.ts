import t from 'tap'
import { createRomCache } from '../../../plugins/roms/items/rom-cache.ts'
import { shareTestApp } from '../../support.ts'
import { addRom } from './support.ts'

const fresh = shareTestApp(t)
const LIST = '/api/roms?with_files=true'

t.test('a cached ROM contains nothing of the caller who read it first', async (t) => {
  const test = await fresh(t)
  const { app, createUser } = test
  const [id, sibling] = [
    await addRom(test, { fs_name: 'a.sfc', matches: { igdb: 1 } }), await addRom(test, { fs_name: 'b.sfc', matches: { igdb: 1 } })
  ]
  const [alice, bob] = [await createUser('alice'), await createUser('bob')]
  const mark = await app.inject({ method: 'PUT', url: `/api/roms/${id}/props`, headers: alice, payload: { rating: 7 } })
  t.equal(mark.statusCode, 200)
  await app.pg.query('insert into notes (user_id, rom_id, title, content) select id, $1, \'mine\', \'x\' from users where username = \'alice\'', [id])
  const ask = async (headers: typeof test.admin, url: string) => {
    const body = (await app.inject({ url, headers })).json()
    const { rom_user: marks, sibling_roms: siblings, has_notes: hasNotes } = body.items?.[0] ?? body
    return { rating: marks.rating, siblings: siblings.map((one: { id: number }) => one.id), hasNotes }
  }
  for (const url of [`/api/roms/${id}`, LIST]) {
    t.same(await ask(alice, url), { rating: 7, siblings: [sibling], hasNotes: true }, url)
    t.same(await ask(bob, url), { rating: 0, siblings: [sibling], hasNotes: false }, url)
  }
  await app.pg.query('insert into hidden_entities (entity, entity_id, user_id) select \'roms\', $1, id from users where username = \'bob\'', [sibling])
  t.same((await ask(bob, `/api/roms/${id}`)).siblings, [], 'a hidden sibling')
  t.same((await ask(alice, `/api/roms/${id}`)).siblings, [sibling])
  t.equal((await app.inject({ url: `/api/roms/${sibling}`, headers: alice })).statusCode, 200)
  t.equal((await app.inject({ url: `/api/roms/${sibling}`, headers: bob })).statusCode, 404, 'a hidden ROM that is kept')
  t.equal((await app.inject({ url: LIST, headers: bob })).json().items.length, 1)
})

t.test('a ROM is current after any change by any means', async (t) => {
  const test = await fresh(t)
  const { app, admin } = test
  const id = await addRom(test, { fs_name: 'a.sfc', matches: { igdb: 1 } })
  const read = async () => {
    const { json, body } = await app.inject({ url: `/api/roms/${id}`, headers: admin })
    const pick = (rom: Record<string, unknown>) =>
      ['summary', 'moby_id', 'platform_custom_name', 'igdb_metadata'].map((name) => rom[name])
    for (const url of [LIST, '/api/roms']) {
      t.same(pick((await app.inject({ url, headers: admin })).json().items[0]), pick(json()), url)
    }
    return body
  }
  const changes = [
    "update roms set summary = 'another'",
    "update platforms set custom_name = 'Mine'",
    'update rom_matches set match = \'{"id": 1, "metadata": {"total_rating": "9"}}\'',
    'insert into rom_matches (rom_id, provider, provider_id, match) select id, \'moby\', \'5\', \'{"id": 5}\' from roms',
    "insert into rom_files (rom_id, file_name, file_path, file_size_bytes, last_modified) select id, 'x.sfc', 'roms/snes', 3, now() from roms",
    "update rom_files set file_size_bytes = 4 where file_name = 'x.sfc'",
    "delete from rom_files where file_name = 'x.sfc'",
    "delete from rom_matches where provider = 'moby'"
  ]
  for (const change of changes) {
    const before = await read()
    t.equal(await read(), before, 'kept')
    await app.pg.query(change)
    t.not(await read(), before, change)
  }
})

t.test('the least recently used ROM is evicted when the cache is full', async (t) => {
  const kept = createRomCache(25)
  const rom = { stamp: 's', json: Buffer.alloc(10), games: [], stillPath: null }
  kept.store(1, false, rom)
  kept.store(2, false, rom)
  t.same([...kept.find([1], false).keys()], [1])
  kept.store(3, false, rom)
  t.same([...kept.find([1, 2, 3], false).keys()], [1, 3])
  kept.store(3, false, { ...rom, json: Buffer.alloc(5) })
  t.equal(kept.bytes(), 15)
  t.equal(kept.find([1, 3], true).size, 0, 'with files it is another one')
})
