import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { type TestApp } from '../../support.ts'
import { addMusic, startMusic, type Page, type Playlist, type Track } from './music-support.ts'

const { start } = await startMusic(t)

async function hide ({ app }: TestApp, entity: 'roms' | 'platforms', id: number, username: string): Promise<void> {
  await app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
    select $1, $2, id from users where username = $3`, [entity, id, username])
}

t.test('tracks are listed with their tags and stream addresses', async (t) => {
  const { test, anna } = await start(t)
  const { rom, ids } = await addMusic(test, 'Lute', {
    'a b?.mp3': {
      title: 'Dawn', artist: 'Ensemble', album: 'OST', genre: 'Folk', year: 2001, track: 3, disc: 1, duration_seconds: 61.5, has_embedded_cover: true, cover_path: 'roms/1/1/soundtracks/9.png'
    },
    'plain.ogg': {},
    'broken.mp3': null
  }, { platform: 'gb', fields: { path_cover_large: 'roms/1/1/cover/big.png' } })
  const { items, ...rest } = await anna.get<Page<Track>>('tracks')
  t.same(rest, { total: 2, limit: 50, offset: 0 })
  t.match(items[0], {
    rom_file_id: ids[0], rom_id: rom, title: 'Dawn', artist: 'Ensemble', album: 'OST', genre: 'Folk', year: 2001, track: 3, disc: 1, duration_seconds: 61.5,
    has_embedded_cover: true, is_favorite: false, game_name: 'Lute', platform_slug: 'gb', platform_name: 'Game Boy',
    stream_url: `/api/roms/${ids[0] ?? 0}/files/content/a%20b%3F.mp3`, cover_url: /^\/assets\/\w+\/resources\/.*roms\/1\/1\/soundtracks\/9\.png$/
  })
  t.match(items[1], { rom_file_id: ids[1], title: null, year: null, cover_url: /roms\/1\/1\/cover\/big\.png$/ })
  t.notMatch(JSON.stringify(items), /track_meta|cover_path|\?ts=/)
})

t.test('music can be streamed from any offset', async (t) => {
  const { test, anna } = await start(t)
  await addMusic(test, 'Lute', { 'a.mp3': { title: 'A' } })
  const path = join(test.libraryDir, 'roms/snes/Lute/soundtrack/a.mp3')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'abcdefghij')
  const [track] = (await anna.get<Page<Track>>('tracks')).items
  const reply = await test.app.inject({ url: track?.stream_url ?? '', headers: { ...test.admin, range: 'bytes=4-6' } })
  t.match(reply, { statusCode: 206, body: 'efg', headers: { 'content-type': 'audio/mpeg', 'content-range': 'bytes 4-6/10' } })
})

t.test('lists of tracks are searched, filtered, sorted and split into pages', async (t) => {
  const { test, anna } = await start(t)
  const gb = await addMusic(test, 'One', {
    '1.mp3': { title: 'beta', artist: 'Zoe', album: 'Big', genre: 'Jazz', year: 1999, duration_seconds: 10 },
    '2.mp3': { title: 'Alpha 100%', artist: 'zoe', album: 'big', genre: 'Rock', year: 1998, duration_seconds: 20 },
    '3.mp3': { artist: 'Abe', year: 1999 }
  }, { platform: 'gb' })
  const snes = await addMusic(test, 'Two', { '4.mp3': { title: 'gamma', album: 'Other_1', duration_seconds: 30.5 } }, { platform: 'snes' })
  const [one = 0, two = 0, three = 0] = gb.ids
  const [four = 0] = snes.ids
  const { rows } = await test.app.pg.query<{ id: number }>("select id from platforms where slug = 'gb'")
  const platform = rows[0]?.id ?? 0
  const lists: Record<string, number[]> = {
    '': [two, one, four, three],
    'order_dir=DESC': [four, one, two, three],
    'order_by=whatever': [two, one, four, three],
    'order_by=artist': [three, one, two, four],
    'order_by=Artist&order_dir=desc': [one, two, three, four],
    'order_by=duration&order_dir=desc': [four, two, one, three],
    'order_by=year': [two, one, three, four],
    'order_by=platform': [one, two, three, four],
    'order_by=platform&order_dir=desc': [four, one, two, three],
    'order_by=added': [one, two, three, four],
    'limit=2&offset=1': [one, four],
    'artist=ZOE': [two, one],
    'album=BIG&genre=jazz': [one],
    'year=1999': [one, three],
    'min_duration=10&max_duration=20': [two, one],
    'min_duration=20.5': [four],
    [`platform_ids=${platform}`]: [two, one, three],
    [`rom_id=${snes.rom}`]: [four],
    'search=ZO': [two, one],
    'search=0%25': [two],
    'search=r_1': [four],
    'search=_': [four],
    'search=%25': [two],
    'search=%5C': [],
    'offset=9': []
  }
  for (const [query, ids] of Object.entries(lists)) t.same(await anna.ids(`tracks?${query}`), ids, query)
  t.match(await anna.get('tracks?limit=1&offset=9'), { items: [], total: 4, limit: 1, offset: 9 })
  for (const query of ['limit=0', 'limit=10001', 'offset=-1', 'platform_ids=x', 'year=a', 'rom_id=0']) t.equal((await anna.ask('GET', `tracks?${query}`)).statusCode, 422, query)
})

t.test('values are counted ignoring case, and shown in the most frequent spelling', async (t) => {
  const { test, anna } = await start(t)
  await addMusic(test, 'One', {
    '1.mp3': { genre: 'jazz', artist: 'A', year: 1999 },
    '2.mp3': { genre: 'Jazz', artist: 'A', year: 2005 },
    '3.mp3': { genre: 'Jazz', artist: 'B', year: 2005, duration_seconds: 9 },
    '4.mp3': { genre: 'Ambient', album: 'X', year: 900 },
    '5.mp3': { genre: 'Rock', artist: ' ' },
    '6.mp3': {}
  })
  t.same(await anna.values('genres'), ['Jazz 3', 'Ambient 1', 'Rock 1'])
  t.same(await anna.values('genres?order_dir=asc'), ['Ambient 1', 'Rock 1', 'Jazz 3'])
  t.same(await anna.values('genres?order_by=value'), ['Ambient 1', 'Jazz 3', 'Rock 1'])
  t.same(await anna.values('genres?order_by=value&order_dir=desc'), ['Rock 1', 'Jazz 3', 'Ambient 1'])
  t.same(await anna.values('genres?artist=a'), ['Jazz 2'])
  t.same(await anna.values('genres?genre=Rock'), ['Jazz 3', 'Ambient 1', 'Rock 1'], 'not by itself')
  t.same(await anna.values('genres?search=A'), ['Jazz 3', 'Ambient 1'])
  t.same(await anna.values('genres?year=2005&min_duration=1'), ['Jazz 1'])
  t.same(await anna.values('artists'), ['A 2', 'B 1'])
  t.same(await anna.values('albums'), ['X 1'])
  t.same(await anna.values('years?order_by=value'), ['900 1', '1999 1', '2005 2'])
  t.same(await anna.values('years?search=00'), ['2005 2', '900 1'])
  t.match(await anna.get('years?limit=1&offset=1'), { items: [{ value: 900, count: 1 }], total: 3, limit: 1, offset: 1 })
})

t.test('favourites are added and removed once', async (t) => {
  const { test, anna, ben } = await start(t)
  const { ids: [one = 0, two = 0, broken = 0] } = await addMusic(test, 'One', { '1.mp3': { title: 'A' }, '2.mp3': { title: 'B', year: 5 }, '3.mp3': null })
  t.same((await anna.send('POST', 'favorites', [two, one, two])).json(), { added: 2 })
  t.same((await anna.send('POST', 'favorites', [two])).json(), { added: 0 })
  t.same((await anna.send('POST', 'favorites', [])).json(), { added: 0 })
  t.same(await anna.ids('favorites'), [one, two])
  t.same(await anna.ids('favorites?year=5'), [two])
  t.same(await ben.ids('favorites'), [])
  t.match((await anna.get<Page<Track>>('tracks')).items, [{ is_favorite: true }, { is_favorite: true }])
  t.match((await ben.get<Page<Track>>('tracks')).items, [{ is_favorite: false }, { is_favorite: false }])
  for (const method of ['POST', 'DELETE'] as const) {
    t.match((await anna.send(method, 'favorites', [2_147_483_648, 9_999, -1, 9_999, broken])), { statusCode: 400 })
    t.same((await anna.send(method, 'favorites', [9_999, -1, 9_999])).json(), { detail: 'Tracks not found: [-1, 9999]' })
    t.same((await anna.send(method, 'favorites', [broken, one])).json(), { detail: `Files are not music tracks: [${broken}]` })
  }
  t.same((await anna.send('DELETE', 'favorites', [one, one])).json(), { removed: 1 })
  t.same((await anna.send('DELETE', 'favorites', [one])).json(), { removed: 0 })
  t.equal((await anna.ask('POST', 'favorites', {})).statusCode, 422)
})

t.test('the playlists of one user are limited in number and size', async (t) => {
  const { test: { app }, anna, ben } = await start(t)
  await app.pg.query(`insert into music_playlists (user_id, name, is_public)
    select (select id from users where username = 'anna'), 'No. ' || n, true from generate_series(1, 999) n`)
  const { id } = await anna.make('The last')
  const more = await anna.ask('POST', 'playlists', { name: 'One more' })
  t.match([more.statusCode, more.json()], [400, { detail: 'You have 1000 playlists already; delete one first' }])
  await ben.make("Somebody else's")
  await app.pg.query("update music_playlists set description = repeat('x', 65536) where id <= 16")
  const longer = await anna.ask('PUT', `playlists/${id}`, { description: 'x' })
  t.match([longer.statusCode, longer.json()], [400, { detail: /^The descriptions of your playlists would have more than / }])
  t.equal((await anna.ask('PUT', `playlists/${id}`, { name: 'Renamed' })).statusCode, 200)
})

t.test('owners change their playlists, and everybody may play public ones', async (t) => {
  const { test, anna, ben, admin } = await start(t)
  const made = await anna.make('Mine', { description: 'calm' })
  t.match(made, { name: 'Mine', description: 'calm', is_public: false, owner_username: 'anna', track_count: 0 })
  await anna.make('mine')
  const open = await ben.make('Loud', { is_public: true })
  t.same((await anna.get<Playlist[]>('playlists')).map(({ name }) => name), ['Loud', 'Mine', 'mine'])
  t.same((await ben.get<Playlist[]>('playlists')).map(({ name }) => name), ['Loud'])
  const taken = { detail: "Playlist with name 'Mine' already exists" }
  const second = await anna.ask('POST', 'playlists', { name: 'Mine' })
  t.equal(second.statusCode, 400)
  t.same(second.json(), taken)
  const other = await anna.make('Third')
  t.same((await anna.ask('PUT', `playlists/${other.id}`, { name: 'Mine' })).json(), taken)
  await ben.make('Mine')
  t.match((await anna.ask('PUT', `playlists/${made.id}`, { name: 'Mine', description: null, is_public: true })).json(), { name: 'Mine', description: null, is_public: true })
  const [before, after] = [await anna.get<Playlist>(`playlists/${made.id}`), (await anna.ask('PUT', `playlists/${made.id}`, { name: null, is_public: null })).json<Playlist>()]
  t.same(after, before, 'nothing was asked for')
  t.match(await ben.get(`playlists/${made.id}`), { name: 'Mine' })
  for (const name of ['', 'x'.repeat(401)]) {
    t.equal((await anna.ask('POST', 'playlists', { name })).statusCode, 422)
    t.equal((await anna.ask('PUT', `playlists/${made.id}`, { name })).statusCode, 422)
  }
  t.equal((await anna.ask('GET', 'playlists/0')).statusCode, 422)
  t.match((await anna.ask('GET', 'playlists/999')).json(), { detail: "Playlist with id '999' not found" })
  const refused = (id: number) => [403, { detail: `Permission denied for playlist with id '${id}'` }] as const
  const unknown = (id: number) => [404, { detail: `Playlist with id '${id}' not found` }] as const
  for (const [caller, method, id, [status, body]] of [
    [admin, 'GET', other.id, unknown(other.id)], [ben, 'PUT', other.id, unknown(other.id)],
    [ben, 'PUT', made.id, refused(made.id)], [admin, 'DELETE', open.id, refused(open.id)]
  ] as const) {
    const reply = await caller.ask(method, `playlists/${id}`, method === 'PUT' ? { name: 'x' } : undefined)
    t.equal(reply.statusCode, status)
    t.match(reply.json(), body)
  }
  const { rows: [user] } = await test.app.pg.query<{ id: number }>("select id from users where username = 'anna'")
  const allow = (granted: boolean) => test.app.inject({
    method: 'PUT',
    url: `/api/permissions/users/${user?.id ?? 0}`,
    headers: test.admin,
    payload: { overrides: [{ entity: 'playlists', action: 'delete', granted, own_only: true }] }
  })
  await allow(false)
  t.equal((await anna.ask('DELETE', `playlists/${made.id}`)).statusCode, 403, 'without the grant to delete')
  await allow(true)
  t.equal((await anna.ask('DELETE', `playlists/${made.id}`)).statusCode, 204)
  t.equal((await anna.ask('GET', `playlists/${made.id}`)).statusCode, 404)
})

t.test('tracks of a playlist keep the given order', async (t) => {
  const { test, anna } = await start(t)
  const { ids: [a = 0, b = 0, c = 0, d = 0, broken = 0] } = await addMusic(test, 'One',
    { '1.mp3': { title: 'D' }, '2.mp3': { title: 'C' }, '3.mp3': { title: 'B' }, '4.mp3': { title: 'A' }, '5.mp3': null })
  const { id } = await anna.make('Mine')
  const path = `playlists/${id}/tracks`
  const updated = async () => (await anna.get<Playlist>(`playlists/${id}`)).updated_at
  t.same((await anna.send('POST', path, [c, a, c])).json(), { added: 2 })
  t.same((await anna.send('POST', path, [a, d, b])).json(), { added: 2 })
  t.same(await anna.ids(path), [c, a, d, b])
  const time = await updated()
  t.same((await anna.send('POST', path, [a])).json(), { added: 0 })
  t.same((await anna.send('DELETE', path, [])).json(), { removed: 0 })
  t.equal(await updated(), time, 'nothing changed')
  t.equal((await anna.send('PUT', `${path}/order`, [b, a, b])).statusCode, 204)
  t.same(await anna.ids(path), [b, a, c, d])
  t.same(await anna.ids(`${path}?order_dir=desc`), [d, c, a, b])
  t.same(await anna.ids(`${path}?order_by=title&limit=2`), [d, c])
  t.same(await anna.ids(`${path}?order_by=unknown`), [d, c, b, a])
  t.equal((await anna.send('PUT', `${path}/order`, [])).statusCode, 204)
  t.same(await anna.ids(path), [b, a, c, d])
  t.same((await anna.send('DELETE', path, [a, d])).json(), { removed: 2 })
  t.same((await anna.send('PUT', `${path}/order`, [a, c])).json(), { detail: 'Payload contains tracks that are not in the playlist' })
  t.same((await anna.send('PUT', `${path}/order`, [c, 9_999])).json(), { detail: 'Tracks not found: [9999]' })
  for (const method of ['POST', 'DELETE'] as const) t.same((await anna.send(method, path, [broken])).json(), { detail: `Files are not music tracks: [${broken}]` })
  t.same(await anna.ids(path), [b, c])
  await test.app.pg.query('delete from rom_files where id = $1', [b])
  t.match(await anna.get(`playlists/${id}`), { track_count: 1 }, 'a file takes its entries along')
})

t.test('V9: music of hidden or age-limited ROMs is in no list, but can be removed', async (t) => {
  const { test, anna, ben } = await start(t)
  const { rom, ids: [one = 0] } = await addMusic(test, 'Hidden', { '1.mp3': { title: 'Hidden', artist: 'H', album: 'H', genre: 'H', year: 1 } })
  const { ids: [two = 0] } = await addMusic(test, 'Cruel', { '2.mp3': { title: 'Cruel', artist: 'C', genre: 'C' } }, { fields: { min_age: 18 } })
  const { ids: [three = 0] } = await addMusic(test, 'Plain', { '3.mp3': { title: 'Plain', artist: 'P' } }, { platform: 'gb' })
  const list = await anna.make('Mine', { is_public: true })
  const path = `playlists/${list.id}/tracks`
  await anna.send('POST', path, [one, two, three])
  await anna.send('POST', 'favorites', [one, two, three])
  await ben.send('POST', 'favorites', [one])
  await hide(test, 'roms', rom, 'anna')
  await test.app.pg.query("update users set age_limit = 12 where username = 'anna'")
  t.same(await anna.titles('tracks'), ['Plain'])
  t.same(await anna.titles('favorites'), ['Plain'])
  t.match(await anna.get(path), { total: 1, items: [{ title: 'Plain' }] })
  t.match(await anna.get(`playlists/${list.id}`), { track_count: 1 })
  t.match(await ben.get(`playlists/${list.id}`), { track_count: 3 })
  t.same(await anna.values('artists'), ['P 1'])
  for (const facet of ['albums', 'genres', 'years']) t.same(await anna.values(facet), [], facet)
  t.same(await anna.titles('tracks?search=Hidden'), [])
  for (const target of ['favorites', path]) t.same((await anna.send('POST', target, [two, one])).json(), { detail: `Tracks not found: [${one}, ${two}]` }, target)
  t.equal((await anna.send('PUT', `${path}/order`, [two, one])).statusCode, 204)
  t.same((await anna.send('DELETE', path, [one, two])).json(), { removed: 2 })
  t.same((await anna.send('DELETE', 'favorites', [one, two])).json(), { removed: 2 })
  t.same((await anna.send('DELETE', path, [one])).json(), { detail: `Tracks not found: [${one}]` }, 'what is not in the list any more does not show')
})
