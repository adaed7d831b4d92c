import { type LinkMatch, type Match, RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import { type PlannedResponse, createPluginContext, createRom, loadResponses, testProvider } from '@svc/plugin-sdk/testing'
import t from 'tap'
import provider from '../src/index.ts'

const { definition } = provider
const FIXTURES = new URL('fixtures', import.meta.url)
const PLANNED = loadResponses(FIXTURES)
const { prod: PROD } = PLANNED.find(({ query }) => query?.id === 900101)?.json as { prod: Record<string, unknown> }
const PAGE = 'https://www.pouet.net/prod.php?which=900101'

function open (responses: readonly PlannedResponse[] | URL = FIXTURES, found: Record<string, Match | LinkMatch> = {}) {
  return createPluginContext(provider, { responses, found })
}

const identify = (fsName: string, ctx = open()) => definition.identify?.(createRom({ fs_name: fsName }), ctx)
const read = (id: number, ctx = open()) => definition.getById?.(id, undefined, ctx)
/** Returns the match of a production with these fields. */
const readOf = (fields: object) =>
  read(5, open([{ url: '*', json: { success: true, prod: { id: '5', name: 'Tide', ...fields } } }]))

t.test('conforms', (t) => testProvider(t, provider, {
  packageUrl: new URL('../package.json', import.meta.url),
  responses: FIXTURES,
  known: { rom: { fs_name: 'Copper Tides (1993)(Lantern).d64', platform: { slug: 'c64' } }, id: 900101, name: 'Copper Tides' },
  term: 'copper'
}))

t.test('conforms with a nearly empty production', (t) => testProvider(t, provider, {
  responses: FIXTURES,
  known: { rom: { fs_name: 'Lone Buoy.d64', platform: { slug: 'c64' } }, id: 900103, name: 'Lone Buoy' },
  term: 'copper'
}))

t.test('a production is found by its unique title, with all its fields', async (t) => {
  const ctx = open()
  const match = await identify('Copper_Tides (1993)(Lantern).d64', ctx)
  t.match(match, {
    id: 900101,
    score: 1,
    name: 'Copper Tides',
    genres: ['Demo', '4K Intro'],
    companies: ['Lantern'],
    first_release_date: Date.UTC(1993, 6, 31),
    youtube_video_id: 'AbCdEfGhIjK',
    ids: { csdb: 900201 }
  })
  t.equal(match?.summary, 'Demo, 4K Intro by Lantern (1993) · Harbor Party 1993 / c64 demo #1 · Pier 1994 / wild · music: wick; ember' +
    ` · Pouët 0.854 · #512 · CdC 4 · https://www.youtube.com/watch?v=AbCdEfGhIjK · ${PAGE}`)
  t.same(match?.metadata, {
    types: ['Demo', '4K Intro'],
    genres: ['Demo', '4K Intro'],
    groups: ['Lantern'],
    companies: ['Lantern'],
    platforms: ['Commodore 64'],
    party: 'Harbor Party 1993 / c64 demo #1',
    invitation: undefined,
    credits: [{ name: 'wick', role: 'music' }, { name: 'ember', role: undefined }],
    vote_avg: 0.854,
    pouet_rank: 512,
    pouet_cdc: 4,
    pouet_popularity: 61.2,
    demozoo_id: 900001,
    pouet_url: PAGE,
    youtube_video_id: 'AbCdEfGhIjK',
    soundtrack_urls: ['https://files.scene.org/view/music/tides.mod'],
    download_urls: [
      'https://files.scene.org/view/demos/groups/lantern/tides.d64', 'https://files.scene.org/view/music/tides.mod',
      'https://www.youtube.com/watch?v=AbCdEfGhIjK', 'https://csdb.dk/release/?id=900201'
    ]
  })
  const url = 'https://content.pouet.net/files/screenshots/00900/00900101.png'
  t.same(match?.media, [{ kind: 'cover', url }, { kind: 'screenshot', url }])
  t.same(ctx.requests.map(({ url }) => url), [
    'https://www.pouet.net/search.php?what=Copper+Tides&type=prod', 'https://api.pouet.net/v1/prod/?id=900101'
  ])
})

t.test('an ambiguous or unknown title does not match; short names cause no request', async (t) => {
  t.equal(await identify('Tide.d64'), undefined)
  for (const name of ['XY.d64', '_.d64']) t.equal(await identify(name, open([])), undefined)
})

t.test('a sequel, and a title that only contains the words, do not match', async (t) => {
  const sendTo = (name: string) => open([
    { url: '*/search.php', status: 301, headers: { location: 'prod.php?which=5' } },
    { url: '*', json: { success: true, prod: { id: '5', name } } }
  ])
  t.equal(await identify('Tide 3.d64', sendTo('Tide 2')), undefined)
  t.equal(await identify('Tide.d64', sendTo('Turning of the Tide')), undefined)
  t.match(await identify('Прилив.trd', sendTo('Прилив')), { id: 5, name: 'Прилив' })
  t.equal(await identify('Tide', open([{ url: '*', status: 302, headers: { location: '/index.php' } }])), undefined)
  t.equal(await identify('Tide', open([{ url: '*', status: 302 }])), undefined)
})

t.test('a known id is read, an unknown one is not found', async (t) => {
  t.match(await read(900101), { id: 900101, score: undefined })
  t.equal(await read(5), undefined)
  for (const id of [0, -1, 1.5]) t.equal(await read(id, open([])), undefined)
  await t.rejects(async () => await read(5, open([{ url: '*', json: { success: true, prod: PROD } }])), ServiceDownError)
})

t.test('Demozoo\'s data are completed with votes and links', async (t) => {
  const demozoo: Match = {
    id: 900001,
    name: 'Copper Tides at Demozoo',
    summary: 'Demo by Lantern · Code: Ember · https://demozoo.org/productions/900001/',
    ids: { pouet: 900101 },
    media: [{ kind: 'cover', url: 'https://media.demozoo.org/a.png' }],
    metadata: { download_urls: ['https://github.com/lantern/tides'] }
  }
  const match = await read(900101, open(FIXTURES, { demozoo }))
  t.equal(match?.name, 'Copper Tides at Demozoo')
  t.same(match?.media, [])
  t.equal(match?.summary, 'Demo by Lantern · Code: Ember · Pouët 0.854 · #512 · CdC 4' +
    ` · https://demozoo.org/productions/900001/ · ${PAGE}`)
  t.match(match?.metadata, { download_urls: /^https:\/\/github\.com\/lantern\/tides,https:\/\/files\.scene\.org/ })
  const linked = { ...demozoo, summary: `Demo · ${PAGE}`, media: [], ids: {} }
  const other = await read(900101, open(FIXTURES, { demozoo: linked }))
  t.match(other, { summary: `Demo · Pouët 0.854 · #512 · CdC 4 · ${PAGE}`, media: [{ kind: 'cover' }, { kind: 'screenshot' }] })
  for (const stranger of [{ ...demozoo, id: 3, ids: { pouet: 4 } }, { ids: { pouet: 900101 } }]) {
    t.match(await read(900101, open(FIXTURES, { demozoo: stranger })), { name: 'Copper Tides', summary: /^Demo, 4K Intro by/ })
  }
})

t.test('parties and ranks are read', async (t) => {
  const partyOf = async (fields: object) => (await readOf(fields))?.metadata?.party
  const party = { id: '41', name: 'Harbor Party' }
  t.equal(await partyOf({ party, party_year: '1993', party_compo_name: 'c64 demo', party_place: '99', placings: [] }), 'Harbor Party 1993 / c64 demo')
  t.equal(await partyOf({ party, party_year: '0', party_compo_name: '', party_place: '0' }), 'Harbor Party')
  t.equal(await partyOf({ party: '41', party_year: '1993' }), undefined)
  t.equal((await readOf({ invitation: { id: '3', name: 'Pier' } }))?.metadata?.invitation, 'Pier')
  t.equal((await readOf({ invitation: '3' }))?.metadata?.invitation, undefined)
})

t.test('ranks, favourites and the middle of a month are interpreted', async (t) => {
  t.match(await readOf({ rank: '2001', cdc: '0', voteavg: '-0.5', releaseDate: '1993-07-15', type: 'procedural graphics, liveact,256b' }), {
    summary: 'Graphics, Liveact, 256B Intro (1993) · Pouët -0.5 · https://www.pouet.net/prod.php?which=5',
    first_release_date: undefined,
    metadata: { pouet_rank: 2001, pouet_cdc: 0, types: ['Graphics', 'Liveact', '256B Intro'] }
  })
  t.match(await readOf({ rank: '0', csdb: '0', demozoo: '', zxdemo: '7' }), {
    summary: 'https://www.pouet.net/prod.php?which=5', ids: { csdb: undefined },
    metadata: { pouet_rank: undefined, demozoo_id: undefined, download_urls: ['https://zxdemo.org/item.php?id=7'] }
  })
})

t.test('fields of another type are ignored', async (t) => {
  const odd = Object.fromEntries(Object.keys(PROD).map((key) => [key, [7, 'x', null, { name: 3, link: 4 }]]))
  const match = await readOf({ ...odd, id: '5', name: 'Tide', types: 3, type: {} })
  t.match(match, { id: 5, name: 'Tide', metadata: { vote_avg: undefined, credits: [], download_urls: [] } })
  t.same([match?.genres, match?.companies, match?.media], [[], [], []])
})

t.test('a manual search lists all productions, the most similar first', async (t) => {
  const { platform } = createRom()
  const search = async (term: string, ctx = open()) => await definition.search?.({ term, platform }, ctx)
  t.match(await search('copper'), [{ id: 900101, name: 'Copper', score: 1 }, { id: 900100, name: 'Coppersmith' }])
  t.same(await search('nothing'), [])
  t.same(await search('nothing', open([{ url: '*', json: { success: true, results: [] } }])), [])
  t.same(await search(' ', open([])), [])
  await t.rejects(search('tide', open([{ url: '*', json: {} }])), ServiceDownError)
})

t.test('a rate limit and a page in place of JSON are errors', async (t) => {
  const run = (response: Partial<PlannedResponse>) => async () => await read(5, open([{ url: '*', ...response }]))
  await t.rejects(run({ status: 429, text: '<html></html>' }), RateLimitedError)
  await t.rejects(run({ status: 503 }), ServiceDownError)
  await t.rejects(run({ text: '<html></html>' }), ServiceDownError)
  await t.rejects(run({ json: {} }), ServiceDownError)
})

t.test('the heartbeat succeeds when Pouët returns a known production', async (t) => {
  t.equal(await definition.heartbeat?.(open()), true)
  t.equal(await definition.heartbeat?.(open([{ url: '*', json: { error: true } }])), false)
})
