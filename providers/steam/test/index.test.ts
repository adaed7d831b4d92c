import { RateLimitedError, type Rom, ServiceDownError } from '@svc/plugin-sdk'
import {
  type PlannedResponse, type RecordedRequest, createPluginContext, createRom, loadResponses, testProvider
} from '@svc/plugin-sdk/testing'
import t from 'tap'
import provider from '../src/index.ts'

const { definition } = provider
const FIXTURES = new URL('fixtures', import.meta.url)
const [, , DETAILS] = loadResponses(FIXTURES)
const HIT = { type: 'app', name: 'Chrono Harbor', id: 400 }
const APP = (DETAILS?.json as Record<string, { data: Record<string, unknown> }>)['400']?.data ?? {}

const createPcRom = (fsName: string, slug = 'win'): Rom => createRom({ fs_name: fsName, platform: { slug } })

function open (responses: readonly PlannedResponse[] | URL = FIXTURES, preferences = {}) {
  return createPluginContext(provider, { responses, preferences })
}

/** Opens a store with these search results and these details by app. */
function openStore (hits: unknown, apps: Record<string, unknown>, hasCapsule = true) {
  const answer = ({ url, method }: RecordedRequest): PlannedResponse => {
    if (method === 'HEAD') return { url: '*', status: hasCapsule ? 200 : 404 }
    const { pathname, searchParams } = new URL(url)
    if (pathname.endsWith('storesearch')) return { url: '*', json: { total: 1, items: hits } }
    const id = searchParams.get('appids') ?? ''
    return { url: '*', json: { [id]: id in apps ? { success: true, data: apps[id] } : { success: false } } }
  }
  return createPluginContext(provider, { intercept: answer })
}

const identify = (fsName: string, ctx = open(), slug = 'win') => definition.identify?.(createPcRom(fsName, slug), ctx)

t.test('conforms', (t) => testProvider(t, provider, {
  packageUrl: new URL('../package.json', import.meta.url),
  responses: FIXTURES,
  known: { rom: { fs_name: 'Chrono Harbor.zip', platform: { slug: 'win' } }, id: 400, name: 'Chrono Harbor™' }
}))

t.test('a game is found by its name with all its fields', async (t) => {
  const ctx = open()
  const match = await identify('Chrono Harbor (v1.2) [GOG].zip', ctx)
  t.match(match, {
    id: 400,
    score: 1,
    name: 'Chrono Harbor™',
    summary: 'Sail & trade on a chain of islands.',
    genres: ['Action', 'Adventure'],
    companies: ['Harbor Works', 'Tidal'],
    developers: ['Harbor Works'],
    publishers: ['Tidal', 'Harbor Works'],
    game_modes: ['Single player', 'Co-operative'],
    min_age: 18,
    average_rating: 90,
    first_release_date: Date.UTC(2007, 9, 10)
  })
  t.same(match?.media, [
    { kind: 'cover', url: 'https://shared.akamai.steamstatic.com/store_item_assets/steam/apps/400/library_600x900.jpg' },
    { kind: 'screenshot', url: 'https://shared.akamai.steamstatic.com/ss_1.1920x1080.jpg' },
    { kind: 'screenshot', url: 'https://shared.akamai.steamstatic.com/ss_2.1920x1080.jpg' }
  ])
  t.same(match?.metadata, {
    total_rating: '90',
    first_release_date: Date.UTC(2007, 9, 10) / 1000,
    genres: ['Action', 'Adventure'],
    companies: ['Harbor Works', 'Tidal'],
    publishers: ['Tidal', 'Harbor Works'],
    developers: ['Harbor Works'],
    game_modes: ['Single player', 'Co-operative'],
    platforms: ['windows', 'mac'],
    controller_support: 'full',
    metacritic_url: 'https://www.metacritic.com/game/pc/chrono-harbor',
    website: 'http://www.example.com/',
    is_free: false,
    required_age: 17
  })
  t.match(ctx.requests.map(({ url }) => url), [
    /storesearch\?term=chrono\+harbor&cc=us&l=english$/, /appdetails\?appids=400&cc=us&l=english$/, /library_600x900/
  ])
})

t.test('a sequel, another game and an empty name do not match', async (t) => {
  t.equal(await identify('Chrono Harbor 3.zip', openStore([{ ...HIT, name: 'Chrono Harbor 2' }], {})), undefined)
  t.equal(await identify('Tide Keepers.zip', openStore([HIT], {})), undefined)
  const ctx = openStore([HIT], {})
  t.equal(await identify('   ', ctx), undefined)
  t.equal(ctx.requests.length, 0)
})

t.test('the next similar title is tried after one that is no game', async (t) => {
  const hits = [{ ...HIT, id: 1 }, { ...HIT, id: 2 }, { ...HIT, id: 3, name: 'Chrono Harbour' }]
  const apps = { 1: { ...APP, type: 'music' }, 2: { ...APP, type: 'dlc' }, 3: APP }
  t.match(await identify('Chrono Harbor', openStore(hits, apps)), { id: 3 })
  t.equal(await identify('Chrono Harbor', openStore(hits, { 1: apps[1], 2: apps[2] })), undefined)
})

t.test('the one for the platform wins among equal names, else the first', async (t) => {
  const hits = [
    { ...HIT, id: 1, platforms: { windows: true, linux: false } },
    { ...HIT, id: 2, platforms: { windows: true, linux: true } }
  ]
  const apps = { 1: APP, 2: APP }
  t.match(await identify('Chrono Harbor', openStore(hits, apps), 'linux'), { id: 2 })
  t.match(await identify('Chrono Harbor', openStore(hits, apps), 'win'), { id: 1 })
  const [other] = hits
  t.match(await identify('Chrono Harbor', openStore([other], apps), 'linux'), { id: 1 }, 'one that is not stays allowed')
})

t.test('a title in another script is sent unchanged and found', async (t) => {
  const ctx = openStore([{ ...HIT, name: 'クロノハーバー' }], { 400: APP })
  t.match(await identify('クロノハーバー.zip', ctx), { id: 400, score: 1 })
  await identify('Pokémon_Quay.zip', ctx)
  const terms = ctx.requests.flatMap(({ url }) => new URL(url).searchParams.get('term') ?? [])
  t.same(terms, ['クロノハーバー', 'pokemon quay'])
})

t.test('an app is read by its id, whatever its type', async (t) => {
  t.match(await definition.getById?.(7, undefined, openStore([], { 7: { ...APP, type: 'dlc', name: 'Extra Quay' } })),
    { id: 7, name: 'Extra Quay', score: undefined })
  t.equal(await definition.getById?.(8, undefined, openStore([], {})), undefined)
  const ctx = openStore([], {})
  t.equal(await definition.getById?.(-1, undefined, ctx), undefined)
  t.equal(ctx.requests.length, 0)
})

t.test('an app under the id of one of its parts counts if its own id matches', async (t) => {
  const answerWith = (json: unknown) => open([
    { method: 'HEAD', url: '*', status: 404 }, { url: 'https://store.steampowered.com/api/appdetails', json }
  ])
  const part = { success: true, data: { ...APP, steam_appid: 400 } }
  t.match(await definition.getById?.(400, undefined, answerWith({ 999: part })), { id: 400 })
  t.equal(await definition.getById?.(401, undefined, answerWith({ 999: part })), undefined)
  t.equal(await definition.getById?.(400, undefined, answerWith({ 999: part, 998: part })), undefined)
})

t.test('a missing app is requested from a preferred region\'s store', async (t) => {
  const responses = [
    { method: 'HEAD', url: '*' },
    { url: '*', query: { cc: 'us' }, json: { 400: { success: false } } },
    { url: '*', query: { cc: 'jp' }, json: { 400: { success: true, data: APP } } }
  ]
  const ctx = open(responses, { regions: ['us', 'wor', 'jp'], languages: ['xx', 'de'] })
  t.match(await definition.getById?.(400, undefined, ctx), { id: 400 })
  t.match(ctx.requests[0]?.url, /l=german/)
})

t.test('the header is the cover if the upright picture is missing or fails', async (t) => {
  const header = { kind: 'cover', url: String(APP.header_image) }
  const apps = { 400: APP }
  t.match((await identify('Chrono Harbor', openStore([HIT], apps, false)))?.media?.[0], header)
  const down = open([{ method: 'HEAD', url: '*', status: 503 }, { url: '*', json: { 400: { success: true, data: APP } } }])
  t.match((await definition.getById?.(400, undefined, down))?.media?.[0], header)
})

t.test('only full dates count', async (t) => {
  const dateOf = async (date: unknown) => {
    const ctx = openStore([], { 400: { ...APP, release_date: date } })
    return (await definition.getById?.(400, undefined, ctx))?.first_release_date
  }
  t.equal(await dateOf({ coming_soon: false, date: 'Dec 10, 2020' }), Date.UTC(2020, 11, 10))
  t.equal(await dateOf({ coming_soon: true, date: '10 Dec, 2020' }), undefined)
  for (const date of ['2020', 'Q4 2020', 'Dec 2020', '', 'To be announced', 7]) t.equal(await dateOf({ date }), undefined, String(date))
  t.equal(await dateOf('10 Dec, 2020'), undefined)
})

t.test('an unknown board counts by the age that the store states', async (t) => {
  const ageOf = async (ratings: unknown) =>
    (await definition.getById?.(400, undefined, openStore([], { 400: { ...APP, required_age: 0, ratings } })))?.min_age
  t.equal(await ageOf({ steam_germany: { rating: 'x', required_age: '16' }, esrb: { rating: 't', required_age: '13' } }), 16)
  t.equal(await ageOf({ steam_germany: { required_age: '0' }, oflc: { rating: 'ma15' } }), 15)
  t.equal(await ageOf({ crl: { rating: '' }, igrs: null }), undefined)
})

t.test('fields of another type are ignored', async (t) => {
  const odd = {
    type: 'game', name: 7, required_age: 'adult', metacritic: [], genres: {}, categories: 'x', ratings: [], developers: [7, 'A'],
    screenshots: [{ path_full: 'ss.jpg' }, null], header_image: 'header.jpg', platforms: null
  }
  t.same(await definition.getById?.(400, undefined, openStore([], { 400: odd }, false)), {
    ...Object.fromEntries(['name', 'score', 'summary', 'genres', 'publishers', 'game_modes', 'min_age', 'first_release_date',
      'average_rating'].map((name) => [name, undefined])),
    id: 400, companies: ['A'], developers: ['A'], media: [], metadata: { companies: ['A'], developers: ['A'] }
  })
})

t.test('a manual search lists all apps, the most similar first', async (t) => {
  const { platform } = createPcRom('x')
  const matches = await definition.search?.({ term: 'Chrono Harbor', platform }, open())
  t.same(matches?.map(({ id }) => id).toSorted(), [400, 401, 402])
  t.match(matches?.[0], { id: 400, media: [{ kind: 'cover', url: /capsule_231x87/ }] })
})

t.test('null, a rate limit and a page in place of JSON are errors', async (t) => {
  const run = (response: Partial<PlannedResponse>) => async () =>
    await identify('Chrono Harbor', open([{ url: '*', ...response }]))
  const throttled: unknown = await run({ json: null })().catch((err: unknown) => err)
  t.ok(throttled instanceof RateLimitedError)
  t.match(throttled, { retryAfterMs: 60_000 })
  await t.rejects(run({ json: [] }), ServiceDownError)
  await t.rejects(run({ text: '<html></html>' }), ServiceDownError)
  await t.rejects(run({ status: 429 }), RateLimitedError)
})

t.test('the heartbeat succeeds when the store returns an app', async (t) => {
  t.equal(await definition.heartbeat?.(open()), true)
  t.equal(await definition.heartbeat?.(openStore([], {})), false)
})
