import { HttpStatusError, RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import { type PlannedResponse, createPluginContext, createRom, loadResponses, testProvider } from '@svc/plugin-sdk/testing'
import t from 'tap'
import provider from '../src/index.ts'

const { definition } = provider
const API = 'https://demozoo.org/api/v1/productions/'
const FIXTURES = new URL('fixtures', import.meta.url)
const DETAILS = loadResponses(FIXTURES).at(-1)?.json as Record<string, unknown>

const open = (responses: readonly PlannedResponse[] | URL = FIXTURES) => createPluginContext(provider, { responses })

type Row = Readonly<Record<string, unknown>> & { readonly id: number, readonly title: string }

/** Opens a Demozoo with these rows for each title; each row can also be read as a whole. */
function openProductions (byTitle: Record<string, readonly Row[]>) {
  const rows = Object.entries(byTitle)
  return open([
    ...rows.map(([title, results]) => ({ url: API, query: { title }, json: { count: results.length, results } })),
    { url: API, json: { count: 0, results: [] } },
    ...rows.flatMap(([, results]) => results.map((json) => ({ url: `${API}${json.id}/`, json })))
  ])
}

function identify (fsName: string, ctx = open(), { slug = 'c64', tags = [] as readonly string[] } = {}) {
  const ids = slug === 'c64' ? [3] : []
  return definition.identify?.(createRom({ fs_name: fsName, tags, platform: { slug, ids } }), ctx)
}

const by = (name: string) => [{ name, releaser: { id: 1, name, is_group: true } }]

t.test('conforms', (t) => testProvider(t, provider, {
  packageUrl: new URL('../package.json', import.meta.url),
  responses: FIXTURES,
  known: {
    rom: { fs_name: 'Copper Tides (1993)(Lantern).d64', tags: ['1993', 'Lantern'], platform: { slug: 'c64' } },
    id: 900001,
    name: 'Copper Tides'
  },
  term: 'Copper Tides'
}))

t.test('conforms with a nearly empty production', (t) => testProvider(t, provider, {
  responses: FIXTURES,
  known: { rom: { fs_name: 'Lone Buoy.d64', platform: { slug: 'c64' } }, id: 900003, name: 'Lone Buoy' }
}))

t.test('a production is found by its title and group, with all its fields', async (t) => {
  const ctx = open()
  const match = await identify('Copper_Tides (1993)(LANTERN).d64', ctx, { tags: ['1993', 'LANTERN'] })
  t.match(match, {
    id: 900001,
    score: 1,
    name: 'Copper Tides',
    genres: ['Demo'],
    companies: ['Lantern'],
    first_release_date: Date.UTC(1993, 6, 31),
    youtube_video_id: 'AbCdEfGhIjK',
    ids: { pouet: 900101, csdb: 900201 }
  })
  t.equal(match?.summary, 'Demo by Lantern (1993) · Harbor Party 1993 / C64 Demo #1 · Harbor Party 1993 / Public Choice #=9' +
    ' · Pier 1994 / Wild (disq) · invitation to Harbor Party 1994 · Music: Wick; Code: Ember, Ash; Testing: Gale · has a hidden part' +
    ' · https://www.youtube.com/watch?v=AbCdEfGhIjK · https://demozoo.org/productions/900001/' +
    ' · https://www.pouet.net/prod.php?which=900101 · https://csdb.dk/release/?id=900201')
  t.same(match?.metadata, {
    types: ['Demo'],
    genres: ['Demo'],
    groups: ['Lantern'],
    companies: ['Lantern'],
    platforms: ['Commodore 64'],
    party: 'Harbor Party 1993',
    party_id: 41,
    party_line: 'Harbor Party 1993 / C64 Demo #1',
    invitation: 'Harbor Party 1994',
    credits: [
      { name: 'Wick', role: 'Music' }, { name: 'Ember', role: 'Code' }, { name: 'Ash', role: 'Code' },
      { name: 'Gale', role: 'Testing' }
    ],
    tags: ['hidden-part', 'plasma'],
    collections: ['hidden-part', 'plasma'],
    demozoo_url: 'https://demozoo.org/productions/900001/',
    pouet_id: 900101,
    pouet_url: 'https://www.pouet.net/prod.php?which=900101',
    csdb_id: 900201,
    csdb_url: 'https://csdb.dk/release/?id=900201',
    youtube_video_id: 'AbCdEfGhIjK',
    first_release_date: Date.UTC(1993, 6, 31) / 1000,
    download_urls: ['https://github.com/lantern/tides', 'https://files.scene.org/view/demos/groups/lantern/tides.d64']
  })
  t.same(match?.media, [
    { kind: 'cover', url: 'https://media.demozoo.org/screens/s/a.jpg' },
    { kind: 'screenshot', url: 'https://media.demozoo.org/screens/s/a.jpg' },
    { kind: 'screenshot', url: 'https://media.demozoo.org/screens/o/b.png' }
  ])
  t.same(ctx.requests.map(({ url }) => url), [`${API}?title=Copper+Tides&platform=3`, `${API}900001/`])
  t.match(ctx.requests[0]?.headers, { accept: 'application/json' })
})

t.test('the first of equal titles wins without a tag that names a group', async (t) => {
  const row = { id: 7, title: 'Tide', author_nicks: by('Beacon') }
  const other = { id: 8, title: 'TIDE', author_nicks: by('Lantern') }
  const ctx = () => openProductions({ Tide: [row, other] })
  t.match(await identify('Tide (1993).d64', ctx(), { tags: ['1993'] }), { id: 7 })
  t.match(await identify('Tide (Lantern).d64', ctx(), { tags: ['Lantern'] }), { id: 8 })
})

t.test('the group in a tag is found among many productions of one title', async (t) => {
  const others = Array.from({ length: 30 }, (_none, index) => ({ id: index + 1, title: 'Megademo', author_nicks: by('Beacon') }))
  const ctx = openProductions({ Megademo: [...others, { id: 99, title: 'Megademo', author_nicks: by('Lantern') }] })
  t.match(await identify('Megademo (Lantern).d64', ctx, { tags: ['Lantern'] }), { id: 99 })
})

t.test('a platform without an id searches productions of all platforms', async (t) => {
  const ctx = open()
  t.match(await identify('Copper Tides (Lantern).bin', ctx, { slug: 'playdate', tags: ['Lantern'] }), { id: 900001 })
  t.equal(ctx.requests[0]?.url, `${API}?title=Copper+Tides`)
})

t.test('a number in brackets may belong to the title', async (t) => {
  const ctx = openProductions({ 'The Untouchables BBS (7)': [{ id: 7, title: 'The Untouchables BBS (7)' }] })
  t.match(await identify('The Untouchables BBS (7).d64', ctx, { tags: ['7'] }), { id: 7, name: 'The Untouchables BBS (7)' })
  const [plain, region] = [openProductions({}), openProductions({})]
  t.equal(await identify('Nothing.d64', plain), undefined)
  t.equal(await identify('Nothing (USA).d64', region), undefined)
  t.same([plain.requests.length, region.requests.length], [1, 1], 'nothing else is asked')
})

t.test('a sequel, another title and an empty name do not match', async (t) => {
  t.equal(await identify('Tide 3.d64', openProductions({ 'Tide 3': [{ id: 1, title: 'Tide 2' }] })), undefined)
  t.equal(await identify('Tide.d64', openProductions({ Tide: [{ id: 1, title: 'Something Else' }] })), undefined)
  t.equal(await identify('_', open([])), undefined)
})

t.test('a title outside Latin script is found', async (t) => {
  const title = 'Прилив'
  t.match(await identify(`${title}.trd`, openProductions({ [title]: [{ id: 5, title }] })), { id: 5, name: title })
})

t.test('a known id is read, an unknown one is not found', async (t) => {
  t.match(await definition.getById?.(900001, undefined, open()), { id: 900001, score: undefined })
  t.equal(await definition.getById?.(5, undefined, open([{ url: `${API}5/`, status: 404, json: { detail: 'Not found.' } }])), undefined)
  for (const id of [0, -1, 1.5]) t.equal(await definition.getById?.(id, undefined, open([])), undefined)
  await t.rejects(async () => await definition.getById?.(5, undefined, open([{ url: '*', json: DETAILS }])), ServiceDownError)
})

t.test('older and smaller records are read', async (t) => {
  const read = async (fields: object) =>
    await definition.getById?.(5, undefined, open([{ url: '*', json: { id: 5, title: ' Tide ', ...fields } }]))
  const match = await read({
    release_date: '1993-07', author_nicks: [{ name: 'Wick', releaser: { id: 2, is_group: false } }],
    release_parties: [{ id: 41, name: 'Harbor Party 1993' }],
    external_links: [
      { link_class: 'PouetProduction', url: 'https://www.pouet.net/groups.php?which=3' },
      { link_class: 'BaseUrl', url: 'https://demo.example/prod.php?which=4' },
      { link_class: 'CsdbRelease', url: 'http://csdb.dk/release/6' }
    ]
  })
  t.match(match, { name: 'Tide', summary: /^by Wick \(1993\) · https:\/\/demozoo\.org\/productions\/5\/ · /, first_release_date: undefined })
  t.match(match?.metadata, {
    groups: [], companies: ['Wick'], party: 'Harbor Party 1993', party_id: 41, party_line: undefined, csdb_id: 6,
    pouet_id: undefined, tags: [], first_release_date: undefined
  })
  t.match(await read({ release_date: null }), { summary: 'https://demozoo.org/productions/5/', ids: { pouet: undefined } })
})

t.test('fields of another type are ignored', async (t) => {
  const odd = Object.fromEntries(Object.keys(DETAILS).map((key) => [key, key === 'title' ? 'Tide' : [7, 'x', null, { name: 3, url: 4 }]]))
  const match = await definition.getById?.(5, undefined, open([{ url: '*', json: { ...odd, id: 5 } }]))
  t.match(match, { id: 5, name: 'Tide', metadata: { credits: [], download_urls: [] } })
  t.same([match?.genres, match?.companies, match?.media], [[], [], []])
})

t.test('a manual search lists fifteen productions of the platform', async (t) => {
  const { platform } = createRom({ platform: { slug: 'c64', ids: [3] } })
  const results = Array.from({ length: 20 }, (_none, index) => ({ id: index + 1, title: index === 14 ? 'Tide' : 'tides' }))
  const matches = await definition.search?.({ term: 'Tide', platform }, openProductions({ Tide: results }))
  t.equal(matches?.length, 15)
  t.match(matches?.[0], { id: 15, name: 'Tide', score: 1 })
  t.same(await definition.search?.({ term: ' ', platform }, open([])), [])
})

t.test('a rate limit, a page in place of JSON and a missing list are errors', async (t) => {
  const run = (response: Partial<PlannedResponse>) => async () => await identify('Tide', open([{ url: '*', ...response }]))
  await t.rejects(run({ status: 429 }), RateLimitedError)
  await t.rejects(run({ status: 502 }), ServiceDownError)
  await t.rejects(run({ text: '<html></html>' }), ServiceDownError)
  await t.rejects(run({ json: { detail: 'busy' } }), ServiceDownError)
  await t.rejects(run({ status: 404, json: { detail: 'Not found.' } }), HttpStatusError)
})

t.test('the heartbeat succeeds when Demozoo lists a known production', async (t) => {
  t.equal(await definition.heartbeat?.(open()), true)
  t.equal(await definition.heartbeat?.(openProductions({})), false)
})

t.test('every platform may have productions, and some have several ids', async (t) => {
  t.match(definition.platforms, { amiga: [5, 6, 26], zxs: [2, 69], c64: 3, playdate: true, neogeoaes: true })
})
