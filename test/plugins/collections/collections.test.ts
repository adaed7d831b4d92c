import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { pino } from 'pino'
import sharp from 'sharp'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import type { Caller } from '../../../core/access/auth.ts'
import { ADMIN_ACCESS } from '../../../core/access/grants.ts'
import { createHttpClient } from '../../../core/http/client.ts'
import { SIGNED_IN_ROOM } from '../../../core/sockets/sockets.ts'
import { createCovers } from '../../../plugins/collections/covers.ts'
import type { CollectionChange } from '../../../plugins/collections/events.ts'
import { createCollections } from '../../../plugins/collections/service.ts'
import { readVirtualId, virtualId } from '../../../plugins/roms/virtual-collections.ts'
import { character } from '../../any-string.ts'
import type { TestApp } from '../../support.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import { until } from '../../until.ts'
import { type Part, PNG } from '../assets/support.ts'
import { addRom } from '../roms/support.ts'
import { type Fields, type Item, startCollections } from './collections-support.ts'

const { start } = await startCollections(t)

const picture = (content: string | Buffer, fileName = 'cover.png'): Part => ({ name: 'artwork', fileName, content })

/** Records the collection events that an open page of a user receives. */
async function listen (t: Pick<Test, 'teardown'>, { app }: TestApp, url: string, headers: { authorization: string }): Promise<string[]> {
  const { cookies } = await app.inject({ method: 'POST', url: '/api/login', headers })
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const socket = io(url, { path: '/ws/socket.io', transports: ['websocket'], reconnection: false, forceNew: true, extraHeaders: { cookie } })
  t.teardown(() => { socket.disconnect() })
  await new Promise((resolve) => { socket.once('connect', () => { resolve(null) }) })
  await until(async () => (await app.sockets.main.in(SIGNED_IN_ROOM).fetchSockets()).some(({ id }) => id === socket.id), 'it is known')
  await awaitEarlierEvents(socket, app)
  const heard: string[] = []
  socket.on('collections:changed', ({ kind, id, change }: CollectionChange) => { heard.push(`${kind} ${id} ${change}`) })
  return heard
}

const hide = ({ app }: TestApp, romId: number, username: string) => app.pg.query(
  "insert into hidden_entities (entity, entity_id, user_id) select 'roms', $1, id from users where username = $2", [romId, username])
const cover = (id: number) => ({ path_cover_small: `roms/1/${id}/cover/small.png`, path_cover_large: `roms/1/${id}/cover/big.png` })
/** Removes the mark and the version of an address. */
const placeOf = (address: string) => address.replace(/^.*resources\/[^/]+\//, '').replace(/\?.*$/, '')

t.test('the owner creates, reads, changes and deletes a collection', async (t) => {
  const { test, alice, bob } = await start(t)
  const [a, b, c] = [await addRom(test, { fs_name: 'A.sfc' }), await addRom(test, { fs_name: 'B.sfc' }), await addRom(test, { fs_name: 'C.gb', platform: 'gb' })]
  const made = await alice.make('Favourites', { is_favorite: true }, { description: 'The best' })
  t.match(made, {
    name: 'Favourites', description: 'The best', rom_ids: [], rom_count: 0, path_cover_small: null, path_cover_large: null,
    path_covers_small: [],
    path_covers_large: [],
    is_public: false, is_favorite: true, is_virtual: false, is_smart: false,
    url_cover: null, owner_username: 'alice'
  })
  const changed = await alice.put(made.id, { rom_ids: JSON.stringify([b, a, 999_999, a]), name: 'Best' })
  t.match(changed, { name: 'Best', description: 'The best', rom_ids: [a, b], rom_count: 2, is_favorite: true })
  t.match(await alice.members(made.id, 'POST', [c, c, 999_999, -1]), { rom_ids: [a, b, c] })
  t.match(await alice.members(made.id, 'DELETE', [a, 999_999]), { rom_ids: [b, c] })
  t.match(await alice.put(made.id, { rom_ids: `[${c}]` }, { is_public: true }), { rom_ids: [c], is_public: true, name: 'Best' })
  t.match(await alice.put(made.id, { name: 'Better' }, { keep_roms: true }), { rom_ids: [c], is_public: true, name: 'Better' })
  t.match(await bob.get(`/api/collections/${made.id}`), { name: 'Better', rom_ids: [c], owner_username: 'alice' })
  t.match(await alice.get(`/api/roms/${c}`), { user_collections: [{ id: made.id, name: 'Better', is_smart: false }] })
  const gone = await alice.call('DELETE', `/api/collections/${made.id}`)
  t.same([gone.statusCode, gone.json()], [200, null])
  const missing = await alice.call('GET', `/api/collections/${made.id}`)
  t.same([missing.statusCode, missing.json()], [404, { detail: `Collection with id '${made.id}' not found` }])
  t.equal((await alice.call('DELETE', '/api/collections/0')).statusCode, 422)
})

t.test('every change updates a collection\'s time, but adding a present ROM does not', async (t) => {
  const { test, alice } = await start(t)
  const rom = await addRom(test, { fs_name: 'A.sfc' })
  const made = await alice.make('A')
  const past = () => test.app.pg.query("update collections set updated_at = '2020-01-01'")
  const moved = async () => (await alice.get<Item[]>('/api/collections?updated_after=2020-01-01T00:00:00Z')).length === 1
  await past()
  t.notOk(await moved(), 'strictly later')
  await alice.members(made.id, 'POST', [rom])
  t.ok(await moved())
  await past()
  await alice.members(made.id, 'POST', [rom])
  await alice.members(made.id, 'DELETE', [999_999])
  t.notOk(await moved())
  await alice.members(made.id, 'DELETE', [rom])
  t.ok(await moved())
  await past()
  await alice.put(made.id, {})
  t.ok(await moved(), 'also when nothing is another')
  t.equal((await alice.call('GET', '/api/collections?updated_after=yesterday')).statusCode, 422)
})

t.test('the owner deletes a collection only with the grant to delete collections', async (t) => {
  const { test, alice, admin } = await start(t)
  const { rows: [row] } = await test.app.pg.query<{ id: number }>("select id from users where username = 'alice'")
  const allow = (granted: boolean) => admin.call('PUT', `/api/permissions/users/${row?.id ?? 0}`, {
    overrides: [{ entity: 'collections', action: 'delete', granted, own_only: true }]
  })
  const paths = [(await alice.make('Plain')).id, `smart/${(await alice.smart('Smart', {})).id}`]
  const deleteAll = async () => await Promise.all(paths.map(async (path) =>
    (await alice.call('DELETE', `/api/collections/${path}`)).statusCode))
  await allow(false)
  t.same(await deleteAll(), [403, 403])
  await allow(true)
  t.same(await deleteAll(), [200, 200])
})

t.test('lists are sorted by name and contain one kind', async (t) => {
  const { alice, bob } = await start(t)
  const ids = [await alice.make('beta'), await alice.make('Alpha'), await bob.make('Gamma', { is_public: true })].map(({ id }) => id)
  const smart = await alice.smart('Alpha', {})
  await bob.make('hidden')
  t.same((await alice.get<Item[]>('/api/collections?is_favorite=true')).map(({ name }) => name), ['Alpha', 'beta', 'Gamma'])
  t.same(await alice.get('/api/collections/identifiers'), [ids[1], ids[0], ids[2]])
  t.same(await alice.get('/api/collections/smart/identifiers'), [smart.id])
})

t.test('an invalid form is refused with a reason and stores nothing', async (t) => {
  const { alice, bob } = await start(t)
  const { id } = await alice.make('Taken')
  const other = await alice.make('Other')
  await bob.make('Taken')
  const smart = await alice.smart('Taken', {})
  const cases: [reply: { statusCode: number, json (): unknown }, status: number, detail?: unknown][] = [
    [await alice.send('POST', '', { name: 'Taken' }), 409, "Collection with name 'Taken' already exists"],
    [await alice.send('PUT', `/${other.id}`, { name: 'Taken', rom_ids: '[]' }), 409, "Collection with name 'Taken' already exists"],
    [await alice.send('POST', '/smart', { name: 'Taken' }), 409, "Collection with name 'Taken' already exists"],
    [await alice.send('POST', '', {}), 422],
    [await alice.send('POST', '', { name: ' ' }), 422],
    [await alice.send('PUT', `/${id}`, { name: '', rom_ids: '[]' }), 422],
    [await alice.send('POST', '', { name: 'x'.repeat(401) }), 422],
    [await alice.send('POST', '', { name: 'a\0b' }), 422],
    ...await Promise.all(['undefined', '{}', '[1.5]', '["1"]', ''].map(async (ids) => [
      await alice.send('PUT', `/${id}`, { rom_ids: ids }), 422, 'Invalid list for rom_ids field in update collection'
    ] as [{ statusCode: number, json (): unknown }, number, string])),
    [await alice.send('PUT', `/${id}`, { name: 'New' }), 422, 'Invalid list for rom_ids field in update collection'],
    ...await Promise.all(['[]', '1', '"x"', 'null', '{', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`].map(async (criteria) => [
      await alice.send('PUT', `/smart/${smart.id}`, { filter_criteria: criteria }), 400, 'Invalid JSON for filter_criteria field'
    ] as [{ statusCode: number, json (): unknown }, number, string])),
    [await alice.call('POST', `/api/collections/${id}/roms`, {}), 422],
    [await alice.call('DELETE', `/api/collections/${id}/roms`), 422],
    [await alice.send('POST', '', { name: 'Local', url_cover: 'http://127.0.0.1/a.png' }), 400],
    [await alice.send('POST', '', { name: 'Local', url_cover: 'file:///etc/passwd' }), 400],
    [await alice.send('POST', '', { name: 'Page', artwork: picture('<svg xmlns="http://www.w3.org/2000/svg"/>', 'a.png') }), 400],
    [await alice.send('POST', '', { name: 'Tiff', artwork: picture(await sharp(PNG).tiff().toBuffer()) }), 400],
    [await alice.send('POST', '', { name: 'Cut', artwork: picture(PNG.subarray(0, 40)) }), 400]
  ]
  for (const [index, [reply, status, detail]] of cases.entries()) {
    t.equal(reply.statusCode, status, `${index}: ${JSON.stringify(reply.json())}`)
    if (detail !== undefined) t.same(reply.json(), { detail })
  }
  t.same((await alice.get<Item[]>('/api/collections')).map(({ name }) => name), ['Other', 'Taken'])
})

t.test('a cover is uploaded, replaced by one of another kind, and removed', async (t) => {
  const { test, alice, bob } = await start(t)
  const folder = join(test.config.data_dir, 'resources', 'collections')
  const large = await sharp({ create: { width: 300, height: 500, channels: 3, background: 'red' } }).png().toBuffer()
  const made = await alice.make('Covered', {}, { artwork: picture(large, '../../x.gif') })
  const stored = (id: number) => existsSync(join(folder, String(id), 'cover')) ? readdirSync(join(folder, String(id), 'cover')).sort() : []
  t.same(stored(made.id), ['big.png', 'small.png'])
  t.match(made.path_cover_large, new RegExp(`^/assets/romm/resources/[\\w-]+/collections/${made.id}/cover/big.png\\?ts=`))
  const small = await test.app.inject({ url: made.path_cover_small ?? '' })
  t.match([small.statusCode, await sharp(small.rawPayload).metadata()], [200, { format: 'png', height: 200 }])
  const unmarked = `/assets/romm/resources/collections/${made.id}/cover/big.png`
  t.equal((await alice.call('GET', unmarked)).statusCode, 200, 'its owner needs no mark')
  t.equal((await bob.call('GET', unmarked)).statusCode, 404)
  t.equal((await test.app.inject({ url: unmarked, headers: test.admin })).statusCode, 404, 'nor does an administrator see it')
  const changed = await alice.put(made.id, { artwork: picture(await sharp(large).webp().toBuffer()), url_cover: 'http://10.0.0.1/' })
  t.match(changed, { url_cover: null, path_cover_large: /big\.webp\?ts=/ })
  t.same(stored(made.id), ['big.webp', 'small.webp'])
  t.match(await alice.put(made.id, { url_cover: '' }), { path_cover_large: /big\.webp/ }, 'an empty address removes nothing')
  t.match(await alice.put(made.id, {}, { remove_cover: true }), { path_cover_small: null, path_cover_large: null })
  t.same(stored(made.id), [])
  await alice.put(made.id, { artwork: picture(PNG) })
  await alice.call('DELETE', `/api/collections/${made.id}`)
  t.notOk(existsSync(join(folder, String(made.id))))
  t.same(readdirSync(join(folder, '.incoming')), [])
})

t.test('of covers that arrive at once, one remains with its file', async (t) => {
  const { test, alice } = await start(t)
  const webp = await sharp(PNG).webp().toBuffer()
  const made = await alice.make('Two covers')
  for (let round = 0; round < 10; round++) {
    await Promise.all([PNG, webp].map((content) => alice.put(made.id, { artwork: picture(content) })))
    const [{ path_cover_large: path } = made] = await alice.get<Item[]>('/api/collections')
    const { statusCode } = await test.app.inject({ url: path ?? '' })
    t.equal(statusCode, 200, path ?? '')
  }
})

t.test('a collection that is deleted while covers arrive leaves no file', async (t) => {
  const { test, alice } = await start(t)
  const folder = join(test.config.data_dir, 'resources', 'collections')
  for (let round = 0; round < 5; round++) {
    const { id } = await alice.make(`Deleted ${round}`)
    const changes = Array.from({ length: 6 }, () => alice.send('PUT', `/${id}`, { rom_ids: '[]', artwork: picture(PNG) }))
    await Promise.race(changes)
    t.equal((await alice.call('DELETE', `/api/collections/${id}`)).statusCode, 200)
    const statuses = (await Promise.all(changes)).map(({ statusCode }) => statusCode)
    t.same(statuses.filter((status) => ![200, 404].includes(status)), [], statuses.join())
    t.notOk(existsSync(join(folder, String(id))))
    t.same(readdirSync(join(folder, '.incoming')), [])
  }
})

t.test('of concurrent deletions of one collection only the first succeeds', async (t) => {
  const { alice } = await start(t)
  const { id } = await alice.make('Deleted at once')
  const answers = await Promise.all(Array.from({ length: 6 }, () => alice.call('DELETE', `/api/collections/${id}`)))
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 404, 404, 404, 404, 404])
})

t.test('V9, collections: hidden ROMs are in no list, count or cover of a collection', async (t) => {
  const { test, alice, bob } = await start(t)
  const genres = { genres: ['Puzzle'] }
  const ids: number[] = []
  for (const name of ['A', 'B', 'C', 'D']) {
    const id = await addRom(test, { fs_name: `${name}.sfc`, fields: genres })
    await test.app.pg.query('update roms set path_cover_small = $2, path_cover_large = $3 where id = $1', [id, ...Object.values(cover(id))])
    ids.push(id)
  }
  const [a = 0, secret = 0, c = 0, d = 0] = ids
  const plain = await alice.make('Plain', { is_public: true })
  await alice.members(plain.id, 'POST', ids)
  const smart = await alice.smart('Smart', genres, { is_public: true })
  await hide(test, secret, 'bob')
  const virtual = virtualId({ type: 'genre', name: 'Puzzle' })
  for (const path of [`${plain.id}`, `smart/${smart.id}`, `virtual/${virtual}`]) {
    const seen = await bob.get<Item>(`/api/collections/${path}`)
    t.same([seen.rom_ids.toSorted(), seen.rom_count], [[a, c, d], 3], path)
    for (const covers of [seen.path_covers_small, seen.path_covers_large]) {
      t.equal(covers.length, 3, path)
      t.notMatch(covers.map(placeOf).join(), `roms/1/${secret}/`, path)
    }
    t.match(await alice.get(`/api/collections/${path}`), { rom_count: 4, path_covers_small: { length: 4 } }, path)
  }
  for (const query of [`collection_id=${plain.id}`, `smart_collection_id=${smart.id}`, `virtual_collection_id=${virtual}`]) {
    t.same(await bob.roms(query), [a, c, d], query)
    t.same(await alice.roms(query), ids, query)
  }
  await hide(test, a, 'bob')
  t.same(await bob.get('/api/collections/virtual?type=genre'), [], 'two that are seen are no collection')
  t.same(await bob.get('/api/collections/virtual/identifiers'), [])
  t.equal((await bob.call('GET', `/api/collections/virtual/${virtual}`)).statusCode, 404)
  const own = await bob.make('Own')
  t.match(await bob.members(own.id, 'POST', [a, c]), { rom_ids: [c] }, 'what is not seen is unknown')
  await hide(test, c, 'bob')
  await bob.put(own.id, { rom_ids: `[${d}]` })
  await test.app.pg.query('delete from hidden_entities')
  t.match(await bob.get(`/api/collections/${own.id}`), { rom_ids: [c, d] }, 'who replaces a list keeps what is hidden in it')
})

t.test('favorite=true shows the favourites of each caller', async (t) => {
  const { test, alice, bob } = await start(t)
  const [a, b, c] = [await addRom(test, { fs_name: 'A.sfc' }), await addRom(test, { fs_name: 'B.sfc' }), await addRom(test, { fs_name: 'C.sfc' })]
  const [first, second, other] = [await alice.make('Favourites', { is_favorite: true }), await alice.make('More', { is_favorite: true }),
    await bob.make('Favourites', { is_favorite: true, is_public: true })]
  t.same(await alice.roms('favorite=true'), [])
  await alice.members(first.id, 'POST', [a])
  await alice.members(second.id, 'POST', [c])
  await bob.members(other.id, 'POST', [b])
  t.same(await alice.roms('favorite=true'), [a, c])
  t.same(await bob.roms('favorite=true'), [b])
  t.same(await alice.roms('favorite=false'), [b])
  t.same(await alice.roms(`collection_id=${other.id}`), [b], 'a public one of another user')
  t.same(await alice.roms('collection_id=999'), [])
  t.equal((await alice.call('GET', '/api/roms?collection_id=0')).statusCode, 422)
  t.match(await alice.get(`/api/roms?collection_id=${other.id}&with_filter_values=true`), { filter_values: { platforms: { length: 1 } } })
})

t.test('the collections of one user are limited in number and size', async (t) => {
  const { test: { app }, alice, bob } = await start(t)
  const fill = (table: string, columns: string, count: number) => app.pg.query(`insert into ${table} (user_id, name, is_public${columns})
    select (select id from users where username = 'alice'), 'No. ' || n, true${columns && ", '{}'"} from generate_series(1, $1) n`, [count])
  await fill('collections', '', 999)
  await fill('smart_collections', ', filter_criteria', 199)
  for (const [path, table, max] of [['', 'collections', 1_000], ['/smart', 'smart_collections', 200]] as const) {
    const last = await alice.send('POST', path, { name: 'The last' })
    t.equal(last.statusCode, 200, last.body)
    const more = await alice.send('POST', path, { name: 'One more' })
    t.match([more.statusCode, more.body], [409, new RegExp(`You have ${max} (?:smart )?collections already; delete one first`)])
    t.equal((await bob.send('POST', path, { name: "Somebody else's" })).statusCode, 200)
    await app.pg.query(`update ${table} set description = repeat('x', 65536) where id <= 16`)
    const change = (fields: Fields) => alice.send('PUT', `${path}/${last.json<Item>().id}`, { rom_ids: '[]', ...fields })
    const longer = await change({ description: 'x' })
    t.match([longer.statusCode, longer.body], [409, /^{"detail":"The descriptions and filters of your collections would have more/])
    t.equal((await change({ name: 'Renamed' })).statusCode, 200)
  }
})

t.test('a smart collection follows every change, with the view of its owner', async (t) => {
  const { test, alice, bob } = await start(t)
  const [a, b] = [await addRom(test, { fs_name: 'A (USA).sfc' }), await addRom(test, { fs_name: 'B (Japan).sfc' })]
  const usa = await alice.smart('American', { regions: ['USA'], own_key: { x: 1 } }, { is_public: true })
  const played = await alice.smart('Finished', { statuses: ['finished'] }, { is_public: true })
  const loved = await alice.smart('Loved', { favorite: true })
  t.match(usa, {
    rom_ids: [a], rom_count: 1, is_smart: true, is_public: true, filter_criteria: { regions: ['USA'], own_key: { x: 1 } },
    filter_summary: /"own_key":\{"x":1\}/, path_cover_small: null, owner_username: 'alice'
  })
  const ids = async ({ id }: Item, of = alice) => (await of.get<Item>(`/api/collections/smart/${id}`)).rom_ids
  await test.app.pg.query("update roms set regions = '{USA}' where id = $1", [b])
  t.same(await ids(usa), [a, b], 'the library')
  await alice.call('PUT', `/api/roms/${b}/props`, { status: 'finished' })
  t.same(await ids(played), [b], 'a mark')
  t.same(await ids(played, bob), [b], "its owner's")
  t.same(await bob.roms(`smart_collection_id=${played.id}`), [], 'the list is for who asks')
  t.same(await alice.roms(`smart_collection_id=${played.id}`), [b])
  const favourites = await alice.make('Favourites', { is_favorite: true })
  await alice.members(favourites.id, 'POST', [a])
  t.same(await ids(loved), [a], 'a collection')
  await alice.put(favourites.id, { rom_ids: `[${b}]` })
  t.same(await ids(loved), [b], 'that was replaced')
  await alice.call('DELETE', `/api/collections/${favourites.id}`)
  t.same(await ids(loved), [], 'and deleted')
  const changed = await alice.send('PUT', `/smart/${usa.id}`, { filter_criteria: '{"regions":["Japan"]}' })
  t.match(changed.json(), { name: 'American', is_public: true, rom_ids: [] })
  t.match(await alice.get(`/api/roms/${b}`), { user_collections: [{ id: played.id, name: 'Finished', is_smart: true }] })
  t.match(await bob.get(`/api/roms/${b}`), { user_collections: [{ id: played.id }] })
  t.same((await bob.get<Item[]>('/api/collections/smart')).map(({ name }) => name), ['American', 'Finished'])
  t.equal((await alice.call('DELETE', `/api/collections/smart/${usa.id}`)).body, 'null')
  const missing = await alice.call('GET', `/api/collections/smart/${usa.id}`)
  t.same([missing.statusCode, missing.json()], [404, { detail: `Collection with id '${usa.id}' not found` }])
})

t.test('a ROM names its smart collections right after each change, cached or not', async (t) => {
  const { test, alice, bob } = await start(t)
  const a = await addRom(test, { fs_name: 'Apple (USA).sfc' })
  const b = await addRom(test, { fs_name: 'Berry (Japan).sfc' })
  await alice.smart('Finished', { statuses: ['finished'] }, { is_public: true })
  await alice.smart('American', { regions: ['USA'] })
  const namesOf = async (user: typeof alice, rom: number) => (await user.get<{ user_collections: Item[] }>(`/api/roms/${rom}`))
    .user_collections.map(({ name }) => name)
  for (const status of ['finished', 'retired', 'finished', 'retired']) {
    // The second question at one version fills the cache.
    for (let times = 0; times < 3; times++) await namesOf(alice, a)
    await alice.call('PUT', `/api/roms/${b}/props`, { status })
    const expected = status === 'finished' ? ['Finished'] : []
    for (let times = 0; times < 4; times++) {
      t.same(await namesOf(alice, b), expected)
      t.same(await namesOf(bob, b), expected, 'of another user')
      t.same(await namesOf(alice, a), ['American'])
    }
  }
  await test.app.pg.query("insert into hidden_entities (entity, entity_id, user_id) select 'roms', $1, id from users where username = 'alice'", [b])
  t.equal((await alice.call('GET', `/api/roms/${b}`)).statusCode, 404)
})

t.test('a ROM lists the smart collections whose filter finds it, also by siblings', async (t) => {
  const { test, alice, bob } = await start(t)
  const [a, b] = [await addRom(test, { fs_name: 'A.sfc', matches: { igdb: 1 } }), await addRom(test, { fs_name: 'B.sfc', matches: { igdb: 1 } })]
  const [other, alone] = [await addRom(test, { fs_name: 'C.gb', platform: 'gb', matches: { igdb: 1 } }), await addRom(test, { fs_name: 'D.sfc', matches: { igdb: 2 } })]
  const twice = await alice.smart('Twice', { duplicate: true }, { is_public: true })
  const once = await bob.smart('Once', { duplicate: false }, { is_public: true })
  const tell = async (id: number) => (await alice.get<{ user_collections: { id: number }[] }>(`/api/roms/${id}`)).user_collections.map((one) => one.id)
  const isEach = async (expected: [id: number, collections: Item[]][], what: string) => {
    for (const [id, collections] of expected) t.same(await tell(id), collections.map((one) => one.id), `${id} ${what}`)
    const found = expected.flatMap(([id, collections]) => collections.includes(twice) ? [id] : [])
    t.same((await alice.get<Item>(`/api/collections/smart/${twice.id}`)).rom_ids, found, what)
  }
  await isEach([[a, [twice]], [b, [twice]], [other, [once]], [alone, [once]]], 'as everybody sees')
  await hide(test, b, 'alice')
  await isEach([[a, []], [other, [once]], [alone, [once]]], 'when the owner does not see the sibling')
})

t.test('a virtual collection needs a value that three ROMs share', async (t) => {
  const { test, alice } = await start(t)
  const fields = { genres: ['Puzzle', 'Ação'], franchises: ['Mario'], game_modes: ['Co-op'], companies: ['N'], collections: ['S'] }
  const ids: number[] = []
  for (let n = 0; n < 6; n++) ids.push(await addRom(test, { fs_name: `${n}.sfc`, fields: n < 3 ? fields : { genres: ['Puzzle'] } }))
  for (const id of ids) {
    await test.app.pg.query('update roms set path_cover_small = $2, path_cover_large = $3 where id = $1', [id, ...Object.values(cover(id))])
  }
  type Virtual = Omit<Item, 'id'> & { id: string, type: string }
  const all = await alice.get<Virtual[]>('/api/collections/virtual?type=all')
  t.same(all.map(({ type, name, rom_count: count }) => [type, name, count]), [
    ['genre', 'Ação', 3], ['mode', 'Co-op', 3], ['franchise', 'Mario', 3], ['company', 'N', 3], ['genre', 'Puzzle', 6], ['collection', 'S', 3]
  ])
  t.match(all[4], {
    description: 'Autogenerated Puzzle collection', is_virtual: true, is_smart: false, is_favorite: false, path_cover_small: null,
    path_covers_small: { length: 5 }, path_covers_large: { length: 5 }
  })
  t.same(all[4]?.rom_ids.toSorted((x, y) => x - y), ids)
  t.equal(Buffer.from(all[0]?.id ?? '', 'base64url').toString(), '{"name": "A\\u00e7\\u00e3o", "type": "genre"}')
  t.same(await alice.get('/api/collections/virtual/identifiers'), all.map(({ id }) => id))
  t.same((await alice.get<Virtual[]>('/api/collections/virtual?type=genre&limit=1')).map(({ name }) => name), ['Ação'])
  t.same(await alice.get('/api/collections/virtual?type=other'), [])
  t.equal((await alice.call('GET', '/api/collections/virtual')).statusCode, 422)
  for (const { id, type, name, rom_ids: members } of all) {
    for (const form of [id, encodeURIComponent(id), id.replace(/=+$/, '')]) {
      t.match(await alice.get(`/api/collections/virtual/${form}`), { id, type, name })
      t.same(await alice.roms(`virtual_collection_id=${form}`), members.toSorted((x, y) => x - y))
    }
  }
  const wrong = ['x', '%7B%7D', virtualId({ type: 'genre', name: 'Sports' }), Buffer.from('{"name":1}').toString('base64url'),
    Buffer.from('{"name":"Puzzle","type":"__proto__"}').toString('base64url'), Buffer.from('null').toString('base64url'),
    Buffer.from('{"name":"a\\u0000","type":"genre"}').toString('base64url')]
  for (const id of wrong) {
    t.equal((await alice.call('GET', `/api/collections/virtual/${id}`)).statusCode, 404, id)
    t.same(await alice.roms(`virtual_collection_id=${id}`), [], id)
  }
})

t.test('virtual collections are cached per caller until something changes', async (t) => {
  const { test, alice, bob } = await start(t)
  const fields = { genres: ['Puzzle', 'Ação'], companies: ['N'] }
  const ids: number[] = []
  for (const name of ['A', 'B', 'C', 'D']) ids.push(await addRom(test, { fs_name: `${name}.sfc`, fields }))
  const [secret = 0, ...others] = ids
  await hide(test, secret, 'bob')
  const ask = async (user: typeof alice, path: string) => {
    const [plain, packed] = [await user.call('GET', path), await user.call('GET', path, undefined, { 'accept-encoding': 'gzip' })]
    t.match(packed.headers, { 'content-encoding': 'gzip', vary: /Accept-Encoding/, 'content-type': 'application/json; charset=utf-8' })
    t.equal(gunzipSync(packed.rawPayload).toString(), plain.body, path)
    return plain.json<(Item & { type: string })[]>()
  }
  const list = '/api/collections/virtual?type='
  const members = (items: Item[]) => items.map((item) => item.rom_ids.toSorted((x, y) => x - y))
  const whole = await ask(alice, `${list}all`)
  t.same(members(whole), [ids, ids, ids])
  t.same(members(await ask(bob, `${list}all`)), [others, others, others], 'without what is hidden from him')
  t.same(await ask(alice, `${list}all`), whole, 'as before, with the time when it was made')
  const genres = await ask(alice, `${list}genre`)
  t.same(genres.map(({ type, name }) => [type, name]), [['genre', 'Ação'], ['genre', 'Puzzle']])
  for (const [limit, shown] of [[0, []], [1, genres.slice(0, 1)], [2, genres], [9, genres]] as const) {
    t.same(await ask(alice, `${list}genre&limit=${limit}`), shown, `${limit}`)
  }
  for (const genre of genres) t.same(await ask(alice, `/api/collections/virtual/${genre.id}`), genre)
  await test.app.pg.query("update users set age_limit = 12 where username = 'alice'")
  await test.app.pg.query('update roms set min_age = 18 where id = $1', [others[0]])
  t.same(members(await ask(alice, `${list}company`)), [ids.filter((id) => id !== others[0])], 'a right that changed')
  t.same(await ask(bob, `${list}all`).then((items) => items.length), 3)
  await test.app.pg.query("update roms set companies = '{}' where id = $1", [secret])
  t.same(await ask(alice, `${list}company`), [], 'a ROM that changed')
  t.same(members(await ask(bob, `${list}company`)), [others])
})

t.test('every name has an id that reads back', async () => {
  fc.assert(fc.property(fc.string({ unit: character }).filter((name) => !name.includes('\0')), (name) => {
    const id = virtualId({ type: 'company', name })
    return /^[\w=-]+$/.test(id) && readVirtualId(id)?.name === name && readVirtualId(id.replace(/=+$/, ''))?.name === name
  }))
})

t.test('a returning ROM is in its collections again', async (t) => {
  const { test, alice } = await start(t)
  const rom = await addRom(test, { fs_name: 'A.sfc' })
  const { id } = await alice.make('A')
  await alice.members(id, 'POST', [rom])
  await test.app.pg.query('create temporary table kept as select * from roms; delete from roms')
  t.match(await alice.get(`/api/collections/${id}`), { rom_ids: [], rom_count: 0 })
  await alice.put(id, {})
  t.equal((await test.app.pg.query('select 1 from collection_roms')).rowCount, 1)
})

t.test('downloads and random picks use the collection', async (t) => {
  const { test, alice } = await start(t)
  const [a] = [await addRom(test, { fs_name: 'A.sfc' }), await addRom(test, { fs_name: 'B.sfc' })]
  const { id } = await alice.make('A')
  await alice.members(id, 'POST', [a])
  t.match(await alice.get(`/api/roms/random?collection_id=${id}`), { id: a })
  t.match((await alice.call('GET', '/api/roms/download')).statusCode, 400)
  t.match((await alice.call('GET', '/api/roms/download?collection_id=999')).statusCode, 404)
})

t.test('only callers who may see a collection receive its events', async (t) => {
  const { test, alice, bob } = await start(t)
  const rom = await addRom(test, { fs_name: 'A.sfc' })
  const url = await test.app.listen({ port: 0, host: '127.0.0.1' })
  const heard = { alice: await listen(t, test, url, alice.headers), bob: await listen(t, test, url, bob.headers) }
  const mine = await alice.make('Mine')
  await alice.members(mine.id, 'POST', [rom])
  await alice.members(mine.id, 'POST', [rom])
  await alice.put(mine.id, {}, { is_public: true })
  await alice.put(mine.id, {}, { is_public: false })
  await alice.call('DELETE', `/api/collections/${mine.id}`)
  const smart = await bob.smart('Shown', {}, { is_public: true })
  await bob.send('PUT', `/smart/${smart.id}`, {})
  await bob.call('DELETE', `/api/collections/smart/${smart.id}`)
  const shown = ['added', 'changed', 'deleted'].map((change) => `smart ${smart.id} ${change}`)
  await until(() => heard.alice.at(-1) === shown.at(-1) && heard.bob.at(-1) === shown.at(-1), 'the last event came')
  const all = ['added', 'changed', 'changed', 'changed', 'deleted'].map((change) => `plain ${mine.id} ${change}`)
  t.same(heard.alice, [...all, ...shown])
  t.same(heard.bob, [...all.slice(2, 4), ...shown], 'what is shown, and once more that it is not')

  await test.app.pg.query(`insert into permission_overrides (user_id, entity, action, granted, own_only)
    select id, 'collections', 'read', true, true from users where username = 'bob'`)
  await alice.make('Shown', { is_public: true })
  await alice.smart('Shown', {}, { is_public: true })
  const own = await bob.make('Own', { is_public: true })
  const last = `plain ${own.id} added`
  await until(() => heard.alice.at(-1) === last && heard.bob.at(-1) === last, 'the last event came')
  t.equal(heard.alice.length, all.length + shown.length + 3)
  t.same(heard.bob.slice(2 + shown.length), [last], 'no event of others, as the grant excludes them')
})

t.test('a cover is downloaded from its URL once', async (t) => {
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    if (url === '/cover.png') response.writeHead(200, { 'content-type': 'image/png' }).end(PNG)
    else if (url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<script>1</script>')
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const { port } = server.address() as AddressInfo
  const origin = `127.0.0.1:${port}`
  const http = createHttpClient({ name: 'covers', userAgent: 'test', log: pino({ level: 'silent' }), trustedOrigins: [origin] })
  t.teardown(async () => {
    await http.close()
    server.close()
  })
  const { test, alice } = await start(t)
  const covers = createCovers(test.config, test.app.store, http)
  const collections = createCollections(test.app, covers)
  const { id } = await alice.make('A')
  const caller = { id: (await alice.get<{ id: number }>('/api/users/me')).id, access: ADMIN_ACCESS } as Caller
  const options = { remove_cover: false, keep_roms: false, cover: null }
  const put = (url: string) =>
    collections.update({ db: test.app.db, caller }, id, { rom_ids: '[]', url_cover: url }, options)
  const fetched = await put(`http://${origin}/cover.png`)
  t.match(fetched, { url_cover: `http://${origin}/cover.png`, path_cover_large: /big\.png\?ts=/, path_cover_small: /small\.png\?ts=/ })
  t.match(await put(`http://${origin}/cover.png`), { path_cover_large: /big\.png/ })
  t.same(asked, ['/cover.png'])
  for (const path of ['page', 'gone']) await t.rejects(put(`http://${origin}/${path}`), { code: 'BAD_REQUEST' }, path)
  t.match(await alice.get(`/api/collections/${id}`), { url_cover: `http://${origin}/cover.png` }, 'what failed changed nothing')
  await covers.delete(id)
  await put(`http://${origin}/cover.png`)
  t.equal(asked.filter((path) => path === '/cover.png').length, 2, 'again when it is gone from the disk')
  const folder = join(test.config.data_dir, 'resources', 'collections')
  t.same(readdirSync(folder).sort(), ['.incoming', String(id)])
  await test.app.pg.query('delete from collections')
  await collections.clean()
  t.same([readdirSync(folder), readdirSync(join(folder, '.incoming'))], [['.incoming'], []], 'nothing is left of one that is gone')
})

t.test('collections are deleted with their owner', async (t) => {
  const { test, alice, admin } = await start(t)
  await alice.make('A')
  await alice.smart('A', {})
  const { rows: [user] } = await test.app.pg.query<{ id: number }>("select id from users where username = 'alice'")
  t.equal((await admin.call('DELETE', `/api/users/${user?.id}`)).statusCode, 200)
  t.equal((await test.app.pg.query('select 1 from collections union all select 1 from smart_collections')).rowCount, 0)
})
