import t from 'tap'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { FormatRegistry } from '@sinclair/typebox'
import { Platform } from '../../../plugins/platforms/entities.ts'
import { Rom, RomUser } from '../../../plugins/roms/entities.ts'
import { type TestApp, buildTestApp, shareTestApp } from '../../support.ts'
import { type RomSeed, addRom, countQueries } from './support.ts'

const fresh = shareTestApp(t)

type Query = Record<string, string | number | boolean | readonly (string | number)[]>
interface Item extends Record<string, unknown> { id: number, fs_name: string, rom_user: Record<string, unknown> }
interface Page {
  items: Item[]
  total: number | null
  limit: number
  offset: number
  char_index: Record<string, number>
  rom_id_index: number[]
  filter_values: Record<string, unknown[]>
}

function search (query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) parameters.append(name, String(one))
  }
  return parameters.toString()
}

async function list ({ app, admin }: TestApp, query: Query = {}, headers = admin): Promise<Page> {
  const reply = await app.inject({ url: `/api/roms?${search(query)}`, headers })
  if (reply.statusCode !== 200) throw new Error(`${reply.statusCode} ${reply.body}`)
  return reply.json<Page>()
}

async function names (test: TestApp, query: Query, headers?: { authorization: string }): Promise<string[]> {
  return (await list(test, query, headers)).items.map((item) => item.fs_name)
}

async function addAll (test: TestApp, seeds: RomSeed[]): Promise<number[]> {
  const ids: number[] = []
  for (const seed of seeds) ids.push(await addRom(test, seed))
  return ids
}

t.test('a provider that a list names hundreds of times counts once', async (t) => {
  const test = await fresh(t)
  await addAll(test, [{ fs_name: 'A.sfc', matches: { ss: 1 } }, { fs_name: 'B.sfc' }])
  const query = { metadata_providers: Array.from({ length: 700 }, () => 'ss'), metadata_providers_logic: 'all' }
  t.same(await names(test, query), ['A.sfc'])
})

t.test('filter values come with the number of ROMs that the caller sees, on request', async (t) => {
  const test = await fresh(t)
  const bob = await test.createUser('bob')
  for (const [name, genres] of [['a', ['RPG']], ['b', ['RPG', 'Puzzle']], ['c', ['Puzzle']]] as const) {
    await addRom(test, { fs_name: `${name}.sfc`, fields: { genres: [...genres] } })
  }
  const read = async (query: string, headers = test.admin) => (await test.app.inject({ url: `/api/roms?limit=1&${query}`, headers }))
    .json<{ filter_counts?: Record<string, Record<string, number>> }>().filter_counts
  t.match(await read('with_filter_counts=true'), { genres: { RPG: 2, Puzzle: 2 } })
  t.equal(await read(''), undefined, 'clients that know no counts get none')
  t.match(await read('with_filter_counts=true&genres=RPG'), { genres: { Puzzle: 2 } }, 'like the values, they ignore filters')
  t.equal(await read('with_filter_counts=true&search_term=a'), undefined, 'for a search the numbers are unknown')
  await test.app.pg.query(`insert into hidden_entities (entity, entity_id, user_id) select 'roms', r.id, u.id from users u, roms r
    where u.username = 'bob' and r.fs_name = 'b.sfc'`)
  t.match(await read('with_filter_counts=true', bob), { genres: { RPG: 1, Puzzle: 1 } }, 'hidden ROMs do not count')
})

t.test('ROMs are listed by name without the article, with an index of characters', async (t) => {
  const test = await fresh(t)
  const ids = await addAll(test, ['Zelda.sfc', 'The Addams.sfc', 'Actraiser 10.sfc', 'Actraiser 9.sfc', '7up.sfc'].map((name) => ({ fs_name: name })))
  const page = await list(test)
  t.same(page.items.map((item) => item.fs_name), ['7up.sfc', 'Actraiser 9.sfc', 'Actraiser 10.sfc', 'The Addams.sfc', 'Zelda.sfc'])
  t.match(page, { total: 5, limit: 50, offset: 0, char_index: { 0: 0, a: 1, z: 4 } })
  t.same(page.rom_id_index, page.items.map((item) => item.id))
  t.same(page.rom_id_index.toSorted(), ids.toSorted())

  const second = await list(test, { limit: 2, offset: 2, order_dir: 'DESC' })
  t.same(second.items.map((item) => item.fs_name), ['Actraiser 10.sfc', 'Actraiser 9.sfc'])
  t.match(second, { total: 5, limit: 2, offset: 2, char_index: { z: 0, a: 1, 0: 4 } })
  t.same(second.rom_id_index, page.rom_id_index.toReversed())

  const bare = await list(test, {
    offset: 99, with_total: 'no', with_char_index: 0, with_rom_id_index: 'off', with_filter_values: 'False'
  })
  t.match(bare, { items: [], total: null, char_index: {}, rom_id_index: [] })
  t.match(bare.filter_values, { genres: [], platforms: [] })
})

t.test('an invalid page and an unauthenticated caller are refused', async (t) => {
  const { app, admin } = await fresh(t)
  for (const query of ['limit=0', 'limit=10001', 'offset=-1', 'limit=x', 'updated_after=soon', 'matched=maybe',
    'platform_ids=99999999999', 'genres=%00', 'search_term=%00', 'updated_after=2016-12-31T23:59:60Z']) {
    const reply = await app.inject({ url: `/api/roms?${query}`, headers: admin })
    t.equal(reply.statusCode, 422, query)
    t.equal(reply.json().detail[0].loc[0], 'query')
  }
  t.equal((await app.inject({ url: '/api/roms' })).statusCode, 401)
  for (const id of ['0', '-3', 'one', '99999999999']) t.equal((await app.inject({ url: `/api/roms/${id}`, headers: admin })).statusCode, 422)
  t.same((await app.inject({ url: '/api/roms/77', headers: admin })).json(), { detail: "ROM with ID '77' not found" })
})

t.test('lists sort by any column, provider ids and the caller\'s marks', async (t) => {
  const test = await fresh(t)
  const [a = 0, b = 0] = await addAll(test, [
    { fs_name: 'a.sfc', fields: { fs_size_bytes: 5, average_rating: 10, first_release_date: 9e11 }, matches: { igdb: 100 } },
    { fs_name: 'b.sfc', fields: { fs_size_bytes: 9, average_rating: 90 }, matches: { igdb: 20 } },
    { fs_name: 'c.sfc', fields: { fs_size_bytes: 1 } }
  ])
  t.same(await names(test, { order_by: 'fs_size_bytes' }), ['c.sfc', 'a.sfc', 'b.sfc'])
  t.same(await names(test, { order_by: 'FS_SIZE_BYTES', order_dir: 'desc' }), ['b.sfc', 'a.sfc', 'c.sfc'])
  t.same(await names(test, { order_by: 'average_rating' }), ['a.sfc', 'b.sfc', 'c.sfc'], 'without a value last')
  t.same(await names(test, { order_by: 'average_rating', order_dir: 'desc' }), ['b.sfc', 'a.sfc', 'c.sfc'])
  t.same(await names(test, { order_by: 'igdb_id' }), ['b.sfc', 'a.sfc', 'c.sfc'], 'numbers as numbers')
  t.same(await names(test, { order_by: 'fs_name', order_dir: 'desc' }), ['c.sfc', 'b.sfc', 'a.sfc'])
  t.same(await names(test, { order_by: 'id; drop table roms' }), ['a.sfc', 'b.sfc', 'c.sfc'], 'unknown means by name')
  for (const [id, rating] of [[a, 3], [b, 8]]) {
    await test.app.inject({ method: 'PUT', url: `/api/roms/${id}/props`, headers: test.admin, payload: { rating } })
  }
  t.same(await names(test, { order_by: 'rating', order_dir: 'desc' }), ['b.sfc', 'a.sfc'], 'only those that have marks')
  t.same((await list(test, { order_by: 'fs_size_bytes', order_dir: 'desc' })).char_index, { b: 0, a: 1, c: 2 })
})

t.test('every column that is offered for sorting exists', async (t) => {
  const test = await fresh(t)
  await addRom(test, { fs_name: 'a.sfc', matches: { libretro: 'A', igdb: 'not a number' } })
  const item = (await list(test)).items[0] ?? { rom_user: {} }
  for (const column of [...Object.keys(item), ...Object.keys(item.rom_user)]) {
    t.type((await list(test, { order_by: column })).total, 'number', column)
  }
})

t.test('a search finds every word in the name or file name, alternatives, and hashes', async (t) => {
  const test = await fresh(t)
  const crc = 'deadbeef'
  const md5 = 'ab'.repeat(16)
  const sha1 = 'cd'.repeat(20)
  await addAll(test, [
    { fs_name: 'Super Mario World (USA).sfc', fields: { crc_hash: crc } },
    { fs_name: 'Super Metroid.sfc', file: { md5_hash: md5 } },
    { fs_name: 'F-Zero.sfc', file: { chd_sha1_hash: sha1 } },
    { fs_name: '100%_Dash\\.sfc' }
  ])
  t.same(await names(test, { search_term: 'super WORLD' }), ['Super Mario World (USA).sfc'])
  t.same(await names(test, { search_term: 'usa' }), ['Super Mario World (USA).sfc'])
  t.same(await names(test, { search_term: ' metroid | zero ' }), ['F-Zero.sfc', 'Super Metroid.sfc'])
  t.same(await names(test, { search_term: 'zelda' }), [])
  t.same(await names(test, { search_term: 'worldsuper' }), [], 'a word is in one of the names')
  t.same(await names(test, { search_term: ' | ' }), await names(test, {}))
  t.same(await names(test, { search_term: '%' }), ['100%_Dash\\.sfc'], 'wildcards are text')
  t.same(await names(test, { search_term: 'dash\\' }), ['100%_Dash\\.sfc'])
  t.same(await names(test, { search_term: "o'; drop table roms --" }), [])
  t.same(await names(test, { search_term: crc.toUpperCase() }), ['Super Mario World (USA).sfc'])
  t.same(await names(test, { search_term: md5 }), ['Super Metroid.sfc'])
  t.same(await names(test, { search_term: sha1 }), ['F-Zero.sfc'])
  t.equal((await list(test, { search_term: 'super' })).total, 2)
})

t.test('filters narrow a list by each known field', async (t) => {
  const test = await fresh(t)
  await addAll(test, [
    {
      fs_name: 'a (USA).sfc',
      matches: { igdb: 1, hasheous: { id: 5, metadata: { nointro_match: true, tosec_match: false } } },
      fields: { genres: ['Action', 'RPG'], companies: ['Nintendo'], player_count: '1-4', age_ratings: ['E'] }
    },
    { fs_name: 'b (Europe).sfc', matches: { igdb: 1 }, fields: { genres: ['Action'], franchises: ['Zelda'], has_soundtrack: true } },
    { fs_name: 'c (Japan) (Beta).sfc', matches: { libretro: 'c' }, fields: { missing_from_fs: true } },
    { fs_name: 'd.bin', platform: 'my console', matches: { ra: 7 } }
  ])
  const [snes] = await test.app.db.em.find(Platform, { slug: 'snes' })
  const letters = async (query: Query) => (await names(test, query)).map((name) => name[0]).join('')
  const cases: [Query, string][] = [
    [{}, 'abcd'],
    [{ platform_ids: [snes?.id ?? 0] }, 'abc'],
    [{ platform_id: snes?.id ?? 0 }, 'abc'],
    [{ platform_ids: [snes?.id ?? 0, 99] }, 'abc'],
    [{ matched: true }, 'abd'], [{ matched: false }, 'c'],
    [{ duplicate: true }, 'ab'], [{ duplicate: false }, 'cd'],
    [{ missing: true }, 'c'], [{ missing: false }, 'abd'],
    [{ playable: true }, 'abc'], [{ playable: false }, 'd'],
    [{ has_ra: true }, 'd'], [{ has_ra: 'no' }, 'abc'],
    [{ verified: true }, 'a'], [{ verified: false }, 'bcd'],
    [{ has_soundtrack: true }, 'b'],
    [{ last_played: true }, ''], [{ last_played: false }, 'abcd'],
    [{ favorite: true }, ''], [{ favorite: false }, 'abcd'],
    [{ has_saves: true }, ''], [{ has_states: false }, 'abcd'],
    [{ collection_id: 1 }, ''], [{ smart_collection_id: 1 }, ''], [{ virtual_collection_id: 'x' }, ''],
    [{ genres: ['RPG', 'Action'] }, 'ab'],
    [{ genres: ['RPG', 'Action'], genres_logic: 'all' }, 'a'],
    [{ genres: ['RPG'], genres_logic: 'none' }, 'bcd'],
    [{ genres: 'RPG', genres_logic: 'whatever' }, 'a'],
    [{ selected_genre: 'RPG' }, 'a'], [{ selected_franchise: 'Zelda' }, 'b'],
    [{ companies: 'Nintendo' }, 'a'], [{ age_ratings: 'E' }, 'a'],
    [{ regions: 'USA' }, 'a'], [{ selected_region: 'Europe' }, 'b'], [{ tags: 'Beta' }, 'c'],
    [{ player_counts: ['1-4'] }, 'a'], [{ player_counts: ['1-4'], player_counts_logic: 'none' }, 'bcd'],
    [{ metadata_providers: ['igdb', 'hasheous'] }, 'ab'],
    [{ metadata_providers: ['igdb', 'hasheous'], metadata_providers_logic: 'all' }, 'a'],
    [{ metadata_providers: ['igdb'], metadata_providers_logic: 'none' }, 'cd'],
    [{ metadata_providers: ['nobody'] }, 'abcd'],
    [{ updated_after: '0000-01-01T00:00:00Z' }, 'abcd'], [{ updated_after: '2999-01-01T00:00:00+02:00' }, ''],
    [{ genres: 'Action', matched: true, missing: false, regions: 'USA' }, 'a']
  ]
  for (const [query, expected] of cases) t.equal(await letters(query), expected, JSON.stringify(query))
  const { filter_values: values } = await list(test, { platform_ids: [snes?.id ?? 0], genres: 'RPG' })
  t.match(values, {
    genres: ['Action', 'RPG'], franchises: ['Zelda'], regions: ['Europe', 'Japan', 'USA'], tags: ['Beta'],
    player_counts: ['1', '1-4'], platforms: [snes?.id]
  })
  const whole = await test.app.inject({ url: '/api/roms/filters', headers: test.admin })
  t.equal(whole.json<Record<string, number[]>>().platforms?.length, 2)
})

t.test('updated_after lists only ROMs changed after that time', async (t) => {
  const test = await fresh(t)
  await addRom(test, { fs_name: 'a.sfc' })
  const [item] = (await list(test)).items
  t.equal((await list(test, { updated_after: String(item?.updated_at) })).total, 0)
})

t.test('a group shows its main sibling, else a finished game, else the wanted region', async (t) => {
  const test = await fresh(t)
  const ids = await addAll(test, [
    { fs_name: 'Game (Japan).sfc', matches: { igdb: 1 } },
    { fs_name: 'Game (USA) (Demo).sfc', matches: { igdb: 1, ss: 9 } },
    { fs_name: 'Game (Europe).sfc', matches: { igdb: 1 } },
    { fs_name: 'Game (USA).sfc', platform: 'gb', matches: { igdb: 1 } },
    { fs_name: 'Other.sfc', matches: { ss: 9 } },
    { fs_name: 'Loose.sfc' }
  ])
  const grouped = (query: object = {}) => names(test, { group_by_meta_id: true, ...query })
  t.same(await grouped(), ['Game (Europe).sfc', 'Game (USA).sfc', 'Loose.sfc', 'Other.sfc'])
  const page = await list(test, { group_by_meta_id: true })
  t.equal(page.total, 4)
  t.equal(page.rom_id_index.length, 4)
  t.same(await grouped({ regions: 'Japan' }), ['Game (Japan).sfc'], 'filters go first')
  t.same(await grouped({ duplicate: true }), ['Game (Europe).sfc', 'Other.sfc'], 'by another source it is one too')
  t.same(await grouped({ duplicate: true, regions: 'Japan' }), ['Game (Japan).sfc'], 'though its siblings are left out')
  t.same(await grouped({ duplicate: false }), ['Game (USA).sfc', 'Loose.sfc'])
  const put = (id: number, payload: object) => test.app.inject({ method: 'PUT', url: `/api/roms/${id}/props`, headers: test.admin, payload })
  await put(ids[0] ?? 0, { is_main_sibling: true })
  t.equal((await grouped())[0], 'Game (Japan).sfc')
  await put(ids[1] ?? 0, { is_main_sibling: true })
  t.same((await grouped()).slice(0, 2), ['Game (USA) (Demo).sfc', 'Game (USA).sfc'], 'there is one main sibling')
  const marked = await test.app.db.em.find(RomUser, { is_main_sibling: true })
  t.same(marked.map((row) => row.rom.id), [ids[1]])
})

t.test('marks of the caller are stored, shown, filtered, and hide ROMs from lists', async (t) => {
  const test = await fresh(t)
  const [a = 0] = await addAll(test, [{ fs_name: 'a.sfc' }, { fs_name: 'b.sfc' }])
  const bob = await test.createUser('bob')
  const put = (payload: object, query = '') =>
    test.app.inject({ method: 'PUT', url: `/api/roms/${a}/props${query}`, headers: test.admin, payload })
  const first = await put({ rating: 7, backlogged: true, status: 'finished', unknown: 1, user_id: 99 })
  t.match(first.json(), { rating: 7, backlogged: true, status: 'finished', last_played: null, completion: 0, rom_id: a })
  const wrapped = await put({ data: { completion: 50, status: null }, update_last_played: true })
  t.match(wrapped.json(), { rating: 7, completion: 50, status: null, last_played: String })
  t.equal((await list(test, { last_played: true })).total, 1)
  t.equal((await put({}, '?remove_last_played=1')).json().last_played, null)
  t.equal((await put({}, '?remove_last_played=true&update_last_played=true')).statusCode, 400)
  for (const wrong of [{ rating: 11 }, { rating: -1 }, { completion: 101 }, { status: 'done' }, { hidden: 'yes' }]) {
    t.equal((await put(wrong)).statusCode, 422, JSON.stringify(wrong))
  }
  t.equal((await test.app.inject({ method: 'PUT', url: `/api/roms/${a}/props`, headers: test.admin })).statusCode, 422, 'no body')

  await put({ hidden: true, status: 'retired' })
  t.same(await names(test, {}), ['b.sfc'])
  t.same(await names(test, { statuses: 'hidden' }), ['a.sfc'])
  t.same(await names(test, { statuses: ['retired', 'finished'] }), [], 'still hidden')
  t.same(await names(test, { statuses: ['retired', 'hidden'], statuses_logic: 'all' }), ['a.sfc'])
  t.same(await names(test, { statuses: ['hidden'], statuses_logic: 'none' }), ['b.sfc'])
  t.same((await test.app.inject({ url: '/api/roms/identifiers', headers: test.admin })).json<number[]>().length, 1)
  t.same(await names(test, {}, bob), ['a.sfc', 'b.sfc'], 'nobody else is affected')
  const seen = (await list(test, {}, bob)).items[0]
  t.match(seen?.rom_user, { id: -1, user_id: -1, rom_id: -1, rating: 0, status: null })
  t.equal((await test.app.inject({ url: `/api/roms/${a}`, headers: test.admin })).statusCode, 200, 'one can still open it')
})

const ACHIEVEMENT = {
  ra_id: 1,
  title: 'x',
  description: null,
  points: 5,
  num_awarded: 2,
  num_awarded_hardcore: 1,
  badge_id: '1',
  badge_url: 'https://example.org/1.png',
  badge_url_lock: 'https://example.org/1_lock.png',
  display_order: 1,
  type: null
}

t.test('a ROM view matches the OpenAPI document', async (t) => {
  const test = await fresh(t)
  const [a = 0, b = 0] = await addAll(test, [
    {
      fs_name: 'Game (USA).sfc',
      matches: { igdb: { id: 42, metadata: { genres: ['RPG'], video_url: 'https://example.org/v.mp4', fanart_url: 'https://example.org/f.png' } }, flashpoint: 'f-1', ra: { id: 3, metadata: { achievements: [ACHIEVEMENT] } } },
      fields: {
        genres: ['RPG', 'Action'],
        path_cover_small: 'roms/1/1/cover/small.png',
        path_screenshots: ['roms/1/1/screenshots/0.jpg'],
        path_manual: 'roms/1/1/manual/1.pdf',
        badges: ['1.png'],
        media: { video: { url: 'https://example.org/v.mp4', path: 'roms/1/1/video/v.mp4' } },
        first_release_date: 700_000_000_000,
        average_rating: 81.5
      },
      file: { sha1_hash: 'cd'.repeat(20), archive_members: [{ name: 'x', size: 1, crc_hash: 'c', md5_hash: 'm', sha1_hash: 's' }] }
    },
    { fs_name: 'The Game (Europe).sfc', matches: { igdb: 42 } }
  ])
  const detail = (await test.app.inject({ url: `/api/roms/${a}`, headers: test.admin })).json<Item>()
  const ts = String(detail.updated_at)
  t.match(detail, {
    igdb_id: 42,
    flashpoint_id: 'f-1',
    moby_id: null,
    igdb_metadata: { genres: ['RPG'], video_path: test.app.resources.marked.toPath('roms/1/1/video/v.mp4'), fanart_path: undefined },
    moby_metadata: {},
    flashpoint_metadata: {},
    manual_metadata: {},
    url_cover: '',
    url_manual: '',
    metadatum: { rom_id: a, genres: ['Action', 'RPG'], player_count: '1', first_release_date: 700_000_000_000, average_rating: 81.5 },
    path_cover_small: test.app.resources.marked.locate('roms/1/1/cover/small.png', ts),
    path_cover_large: '',
    merged_screenshots: [test.app.resources.marked.locate('roms/1/1/screenshots/0.jpg', ts)],
    merged_ra_metadata: { achievements: [{ badge_path: test.app.resources.marked.locate(`roms/${Number(detail.platform_id)}/${a}/retroachievements/badges/1.png`), badge_path_lock: null, title: 'x' }] },
    has_manual: true,
    path_manual: test.app.resources.marked.toPath('roms/1/1/manual/1.pdf'),
    path_video: test.app.resources.marked.toPath('roms/1/1/video/v.mp4'),
    full_path: 'roms/snes/Game (USA).sfc',
    platform_display_name: 'Super Nintendo Entertainment System',
    regions: ['USA'],
    files: [{ file_name: 'Game (USA).sfc', category: 'game', full_path: 'roms/snes/Game (USA).sfc', last_modified: '2024-01-02T03:04:05+00:00' }],
    sibling_roms: [{ id: b, sort_comparator: 'game', is_main_sibling: false }],
    user_saves: [],
    all_user_notes: []
  })
  const simple = (await test.app.inject({ url: `/api/roms/${a}/simple`, headers: test.admin })).json<Item>()
  const [listed] = (await list(test, { with_files: true })).items
  t.same(listed, simple)
  t.same((await list(test)).items[0], { ...simple, files: [] })
  FormatRegistry.Set('date-time', (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/.test(value))
  const [simpleSchema, detailedSchema] = test.app.roms.schemas
  for (const [schema, value] of [[simpleSchema, simple], [detailedSchema, detail]] as const) {
    if (schema === undefined) throw new Error('There are two schemas')
    t.same([...TypeCompiler.Compile(schema).Errors(value)].map((error) => `${error.path} ${error.message}`), [])
    t.same(Object.keys(schema.properties).sort(), Object.keys(value).sort(), 'no field more, none less')
  }
  const [view] = await test.app.roms.views([a], 1)
  t.same(view, { ...simple, rom_user: view?.rom_user, files: [], sibling_roms: [] })
  t.same((await test.app.roms.views([b, 99, a], null)).map((rom) => rom.id), [b, a])
})

t.test('the OpenAPI document contains the fields of every registered provider', async (t) => {
  const { app } = await fresh(t)
  const { components } = (await app.inject({ url: '/openapi.json' })).json()
  const properties = components.schemas.SimpleRom.properties
  t.ok(properties.igdb_id)
  t.match(JSON.stringify(properties.igdb_metadata), '#/components/schemas/igdb_metadata')
  t.match(JSON.stringify(components.schemas.igdb_metadata), 'total_rating')
  t.ok(components.schemas.DetailedRom.properties.all_user_notes)
})

t.test('a list of fifty ROMs takes as many queries as a list of one', async (t) => {
  const test = await fresh(t)
  const add = (i: number) => addRom(test, { fs_name: `Game ${i}.sfc`, matches: { igdb: i % 5, ss: i }, fields: { genres: [`g${i}`] } })
  // Count the queries of authentication apart, after the first request has checked the password.
  await list(test)
  const withAuth = await countQueries(test, async () => { await test.app.inject({ url: '/api/users/me', headers: test.admin }) })
  await add(0)
  // Replaces the cached ROM that had this id before.
  await list(test)
  const one = await countQueries(test, async () => { t.equal((await list(test)).items.length, 1) })
  for (let i = 1; i < 50; i++) await add(i)
  const fifty = await countQueries(test, async () => { t.equal((await list(test)).items.length, 50) })
  t.equal(fifty, one)
  t.ok(fifty - withAuth <= 6, `${fifty - withAuth} queries`)
})

t.test('a ROM is found by its id at a provider and by a hash of it or a file', async (t) => {
  const test = await fresh(t)
  const [a, b] = await addAll(test, [
    { fs_name: 'a.sfc', matches: { igdb: 42 }, fields: { md5_hash: 'ab'.repeat(16) } },
    { fs_name: 'b.sfc', matches: { flashpoint: 'f-1' }, file: { crc_hash: 'deadbeef' } }
  ])
  const get = (path: string) => test.app.inject({ url: `/api/roms/${path}`, headers: test.admin })
  t.equal((await get('by-metadata-provider?igdb_id=42')).json().id, a)
  t.equal((await get('by-metadata-provider?igdb_id=1&flashpoint_id=f-1')).json().id, b)
  t.equal((await get('by-metadata-provider?igdb_id=43')).statusCode, 404)
  t.equal((await get('by-metadata-provider')).statusCode, 400)
  t.equal((await get('by-metadata-provider?igdb_id=x')).statusCode, 422)
  t.equal((await get(`by-hash?md5_hash=${'AB'.repeat(16)}`)).json().id, a)
  t.equal((await get('by-hash?crc_hash=DEADBEEF')).json().id, b)
  t.equal((await get('by-hash?crc_hash=00000000')).statusCode, 404)
  t.equal((await get('by-hash')).statusCode, 400)
})

t.test('a random ROM comes from the scope, and is null if the scope is empty', async (t) => {
  const test = await fresh(t)
  const none = await test.app.inject({ url: '/api/roms/random', headers: test.admin })
  t.equal(none.statusCode, 200)
  t.equal(none.body, 'null')
  const ids = await addAll(test, [{ fs_name: 'a.sfc' }, { fs_name: 'b.sfc' }, { fs_name: 'c.gb', platform: 'gb' }])
  const platform = (await test.app.db.em.findOneOrFail(Platform, { slug: 'gb' })).id
  t.equal((await test.app.inject({ url: `/api/roms/random?platform_ids=${platform}`, headers: test.admin })).json().id, ids[2])
  const pickAll = async () => {
    const replies = await Promise.all(Array.from({ length: 60 }, () => test.app.inject({ url: '/api/roms/random', headers: test.admin })))
    return [...new Set(replies.map((reply) => reply.json<{ id: number }>().id))].sort((a, b) => a - b)
  }
  t.same(await pickAll(), ids, 'every ROM is picked at times')
  await test.app.pg.query("select setval('roms_id_seq', 5000000)")
  const late = await addRom(test, { fs_name: 'd.sfc' })
  t.same(await pickAll(), [...ids, late], 'also if most ids are free')
})

t.test('guests may read details while downloads are open, but not lists', async (t) => {
  const test = await buildTestApp(t, { env: { DISABLE_DOWNLOAD_ENDPOINT_AUTH: 'true' } })
  const id = await addRom(test, { fs_name: 'a.sfc' })
  t.match((await test.app.inject({ url: `/api/roms/${id}` })).json(), { id, rom_user: { id: -1 } })
  t.equal((await test.app.inject({ url: '/api/roms' })).statusCode, 401)
  t.equal(await test.app.db.em.count(Rom), 1)
})

t.test('a file is described by its own id', async (t) => {
  const test = await fresh(t)
  const id = await addRom(test, { fs_name: 'Game', files: ['a.bin', 'manual/b.pdf'] })
  const detail = (await test.app.inject({ url: `/api/roms/${id}`, headers: test.admin })).json<{ files: { id: number }[] }>()
  t.match(detail.files, [{ file_name: 'a.bin', category: 'game' }, { file_name: 'b.pdf', category: null, is_top_level: false }])
  const reply = await test.app.inject({ url: `/api/roms/${detail.files[1]?.id}/files`, headers: test.admin })
  t.same(reply.json(), detail.files[1])
  t.same((await test.app.inject({ url: '/api/roms/9999/files', headers: test.admin })).json(), { detail: 'File not found' })
})
