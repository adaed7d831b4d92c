import { CredentialsRefusedError, MatchSchema, RateLimitedError, type Rom, ServiceDownError } from '@svc/plugin-sdk'
import { Value } from '@sinclair/typebox/value'
import {
  type PlannedResponse, type RecordedRequest, createContext, createRom, loadResponses, testProvider
} from '@svc/plugin-sdk/testing'
import fc from 'fast-check'
import { test } from 'tap'
import type { Game } from '../src/api.ts'
import provider from '../src/index.ts'
import { toMatch } from '../src/map.ts'
import { MetadataSchema } from '../src/metadata.ts'

const { definition } = provider
const FIXTURES = new URL('./fixtures', import.meta.url)
const config = { apiKey: 'moby_hidden', secondsPerRequest: 5 }
const GAME = readGame()

function readGame (): Game {
  const { bytes } = loadResponses(FIXTURES)[0] ?? {}
  const { games: [game] } = JSON.parse(Buffer.from(bytes ?? []).toString()) as { games: [Game] }
  return game
}

const paramsOf = ({ url }: RecordedRequest) => new URL(url).searchParams

/** Opens a context in which MobyGames lists the games that `find` returns. */
function openMoby (find: (query: URLSearchParams) => unknown) {
  return openHttp((request) => ({ url: '*', json: { games: find(paramsOf(request)) } }))
}

function openHttp (intercept: (request: RecordedRequest) => PlannedResponse) {
  return createContext({ config, intercept })
}

function createSnesRom (fsName: string, overrides: Partial<Rom> = {}): Rom {
  return createRom({ fs_name: fsName, ...overrides, platform: { ids: [15] } })
}

test('conforms', async (t) => {
  await testProvider(t, provider, {
    packageUrl: new URL('../package.json', import.meta.url),
    config,
    responses: FIXTURES,
    known: { rom: { fs_name: 'Chrono Harbor (USA).sfc' }, id: 4711, name: 'Chrono Harbor' }
  })
})

test('a file matches by name among the games of its platform', async (t) => {
  const ctx = createContext({ config, responses: FIXTURES })
  const match = await definition.identify?.(createSnesRom('Chrono Harbor (USA) [!].sfc'), ctx)
  t.match(match, { id: 4711, score: 1, name: 'Chrono Harbor', first_release_date: Date.UTC(1995, 2, 11) })
  t.same(ctx.requests.map((request) => Object.fromEntries(paramsOf(request))),
    [{ api_key: 'moby_hidden', title: 'chrono harbor', platform: '15', format: 'normal' }])
})

test('the common fields and the record of a game are filled', async (t) => {
  const match = toMatch(GAME, [15])
  t.match(match, {
    summary: 'Sail a chain of islands.\n\n * One & all',
    alternative_names: ['クロノハーバー', 'Harbor of Ages'],
    genres: ['Action', 'Platform'],
    average_rating: 83,
    metadata: {
      moby_score: '8.3',
      genres: ['Action', 'Side view', 'Platform', 'Sea'],
      alternate_titles: ['クロノハーバー', 'Harbor of Ages'],
      platforms: [{ moby_id: 16, name: 'Genesis' }, { moby_id: 15, name: 'SNES' }]
    }
  })
  t.same(match.media, [
    { kind: 'cover', url: 'https://cdn.mobygames.com/covers/1-front.jpg' },
    { kind: 'screenshot', url: 'https://cdn.mobygames.com/screenshots/1.png' },
    { kind: 'screenshot', url: 'https://cdn.mobygames.com/screenshots/2.png' }
  ])
})

test('a release date counts if it is a day on the ROM\'s platform', async (t) => {
  t.equal(toMatch(GAME, [16]).first_release_date, undefined)
  t.equal(toMatch(GAME, []).first_release_date, undefined)
  t.equal(toMatch(GAME, [16, 15]).first_release_date, Date.UTC(1995, 2, 11))
})

test('a game without cover, score and other titles is a match', async (t) => {
  const match = toMatch({ game_id: 1, title: 'Bare', sample_cover: null, moby_score: null, alternate_titles: [] }, [15])
  t.match(match, { id: 1, name: 'Bare', metadata: { moby_score: null } })
  t.same([match.media, match.metadata?.genres, match.metadata?.platforms], [[], [], []])
  t.equal(toMatch({ ...GAME, moby_score: 8 }, []).metadata?.moby_score, '8')
})

test('the separator in a file name is searched as a colon', async (t) => {
  const ctx = openMoby(() => [])
  for (const name of ['Chrono Harbor - The Second Tide (USA).sfc', 'Tide-Keepers.sfc', 'Café du Port_2.sfc']) {
    await definition.identify?.(createSnesRom(name), ctx)
  }
  const titles = ctx.requests.map((request) => paramsOf(request).get('title'))
  t.same(titles, ['chrono harbor: the second tide', 'second tide', 'tide-keepers', 'cafe du port 2'])
})

test('several platforms are searched together, and short names by their title', async (t) => {
  const ctx = openMoby(() => [{ game_id: 9, title: 'Tide Fighter II' }])
  const ids = [143, 36]
  const rom = createRom({ fs_name: 'tf2.zip', titles: ['Tide Fighter II', 'tf2'], platform: { slug: 'arcade', ids } })
  t.match(await definition.identify?.(rom, ctx), { id: 9, score: 1 })
  t.same(ctx.requests.map((request) => paramsOf(request).getAll('platform')), [['143', '36']])
})

test('a title in another script is found by a game\'s alternative titles', async (t) => {
  const ctx = openMoby(() => [{ game_id: 1, title: 'Harbor' }, GAME])
  t.match(await definition.identify?.(createSnesRom('クロノハーバー (Japan).sfc'), ctx), { id: 4711, score: 1 })
  t.equal(paramsOf(ctx.requests[0] ?? { method: '', url: '', headers: {}, body: '' }).get('title'), 'クロノハーバー')
})

test('the lowest id wins among equal titles, and main titles win over others', async (t) => {
  const ctx = openMoby(() => [
    { game_id: 9, title: 'Tide' }, { game_id: 3, title: 'Other', alternate_titles: [{ title: 'Tide' }] }, { game_id: 7, title: 'Tide' }
  ])
  t.match(await definition.identify?.(createSnesRom('Tide.sfc'), ctx), { id: 7, score: 1 })
})

test('the closer of two titles wins, and a neighbouring sequel does not match', async (t) => {
  const ctx = openMoby(() => [{ game_id: 2, title: 'Harbor Quest II' }, { game_id: 3, title: 'Harbor Quest III' }])
  t.match(await definition.identify?.(createSnesRom('Harbor Quest 3.sfc'), ctx), { id: 3 })
  t.equal(await definition.identify?.(createSnesRom('Harbor Quest 4.sfc'), ctx), undefined)
})

test('a title without results is searched by a long enough last part', async (t) => {
  const tide = { game_id: 5, title: 'Ecco: The Second Tide' }
  const ctx = openMoby((query) => query.get('title') === 'second tide' ? [tide, { game_id: 6, title: 'Ecco: The Second Tide Deluxe' }] : [])
  t.match(await definition.identify?.(createSnesRom('Harbor Saga - The Second Tide.sfc'), ctx), { id: 5, score: 1 })
  const short = openMoby(() => [])
  t.equal(await definition.identify?.(createSnesRom('Harbor Saga - II.sfc'), short), undefined)
  t.equal(short.requests.length, 1)
})

test('an unknown platform and a name without a word cause no request', async (t) => {
  const ctx = openMoby(() => [GAME])
  t.equal(await definition.identify?.(createRom({ platform: { ids: [] } }), ctx), undefined)
  t.equal(await definition.identify?.(createSnesRom('!!!.sfc'), ctx), undefined)
  t.same(await definition.search?.({ term: ' ', platform: createSnesRom('x').platform }, ctx), [])
  t.equal(ctx.requests.length, 0)
})

test('a manual search lists all games, the most similar first', async (t) => {
  const ctx = openMoby(() => [{ game_id: 2, title: 'Chrono Harbor Deluxe' }, GAME])
  const matches = await definition.search?.({ term: 'Harbor of Ages', platform: createSnesRom('x').platform }, ctx)
  t.match(matches, [{ id: 4711, score: 1, first_release_date: Date.UTC(1995, 2, 11) }, { id: 2 }])
})

test('a game is read by its id', async (t) => {
  const ctx = openMoby((query) => query.get('id') === '4711' ? [GAME] : [])
  t.match(await definition.getById?.(4711, createSnesRom('x'), ctx),
    { id: 4711, score: undefined, first_release_date: Date.UTC(1995, 2, 11) })
  t.match(await definition.getById?.(4711, undefined, ctx), { id: 4711, first_release_date: undefined })
  t.equal(await definition.getById?.(12, undefined, ctx), undefined)
  for (const id of ['x', -1, 0.5]) t.equal(await definition.getById?.(id as number, undefined, ctx), undefined)
  t.equal(ctx.requests.length, 2, 'one answer serves both')
})

test('a key is refused after two refusals, and the message hides it', async (t) => {
  const body = { code: 401, error: 'Authorization required', message: 'You must have an API key to use this resource.' }
  const refused = openHttp(() => ({ url: '*', status: 401, json: body }))
  const err: unknown = await definition.identify?.(createSnesRom('Tide.sfc'), refused).catch((err: unknown) => err)
  t.ok(err instanceof CredentialsRefusedError)
  t.match(String(err), /MOBYGAMES_API_KEY/)
  t.notMatch(String(err), /hidden/)
  const once = createContext({ config, responses: [{ url: '*', status: 401, json: body, times: 1 }, { url: '*', json: { games: [GAME] } }] })
  t.match(await definition.identify?.(createSnesRom('Chrono Harbor.sfc'), once), { id: 4711 })
})

test('a spent hour is a rate limit; unusable responses are an outage', async (t) => {
  const identify = async (response: Partial<PlannedResponse>) =>
    definition.identify?.(createSnesRom('Tide.sfc'), openHttp(() => ({ url: '*', ...response })))
  await t.rejects(identify({ status: 429, headers: { 'retry-after': '60' } }), RateLimitedError)
  await t.rejects(identify({ status: 502 }), ServiceDownError)
  await t.rejects(identify({ text: '<!doctype html><title>Just a moment</title>' }), ServiceDownError)
  await t.rejects(identify({ json: { games: null } }), ServiceDownError)
})

test('the default plan is slow, and rates in responses replace it', async (t) => {
  const { limits } = definition
  t.match(typeof limits === 'function' && limits(config), { rates: [{ requests: 1, perMs: 5000, hosts: ['api.mobygames.com'] }] })
  const ctx = createContext({ config, responses: FIXTURES })
  await definition.identify?.(createSnesRom('Chrono Harbor.sfc'), ctx)
  const hosts = ['api.mobygames.com']
  t.same(ctx.limits, [{ rates: [{ requests: 1, perMs: 1000, hosts }, { requests: 720, perMs: 3_600_000, hosts }] }])
  t.match(ctx.allowances, [{ name: 'hour', total: 720, remaining: 718 }])
  const { resetsAt = 0 } = ctx.allowances[0] ?? {}
  t.ok(Math.abs(resetsAt - Date.now() - 3_540_000) < 60_000)
  await definition.identify?.(createSnesRom('Chrono Harbor (Europe).sfc'), ctx)
  t.equal(ctx.requests.length, 1, 'the same words are asked for once a day')
  t.equal(ctx.allowances.length, 1, 'and an answer that was kept says nothing of what is left')
})

test('invalid headers, and headers about seconds only, change no limits', async (t) => {
  const HEADERS: Record<string, string>[] = [
    {}, { 'ratelimit-policy': 'none' }, { 'ratelimit-policy': '0;w=0' },
    { 'ratelimit-limit': '720', 'ratelimit-remaining': '1', 'ratelimit-reset': '1' }
  ]
  for (const headers of HEADERS) {
    const ctx = openHttp(() => ({ url: '*', json: { games: [] }, headers }))
    await definition.identify?.(createSnesRom('Tide.sfc'), ctx)
    t.same([ctx.limits, ctx.allowances], [[], []])
  }
  const policy = { 'ratelimit-policy': '1;w=1, 720;w=3600' }
  for (const left of [{ limit: '1', remaining: '0', reset: '1' }, { limit: '720', remaining: 'x', reset: '1' }]) {
    const entries = Object.entries(left).map(([name, value]) => [`Ratelimit-${name}`, value])
    const ctx = openHttp(() => ({ url: '*', json: { games: [] }, headers: { ...policy, ...Object.fromEntries(entries) } }))
    await definition.identify?.(createSnesRom('Tide.sfc'), ctx)
    t.equal(ctx.allowances.length, 0)
  }
})

test('the heartbeat succeeds when MobyGames lists a group', async (t) => {
  t.equal(await definition.heartbeat?.(createContext({ config, responses: FIXTURES })), true)
  t.equal(await definition.heartbeat?.(openHttp(() => ({ url: '*', json: { groups: [] } }))), false)
})

test('malformed games are skipped', async (t) => {
  const ctx = openMoby(() => [null, 7, {}, { game_id: 'x', title: 'Chrono Harbor' }, { game_id: 1, title: 5 }, GAME])
  t.match(await definition.identify?.(createSnesRom('Chrono Harbor.sfc'), ctx), { id: 4711 })
})

test('numbers written as text and URLs without TLS are accepted', async (t) => {
  const ctx = openMoby(() => [{
    ...GAME,
    game_id: '4711',
    moby_score: '8.3',
    genres: [{ genre_category_id: '2', genre_name: 'Side view' }, { genre_category_id: '1', genre_name: 'Action' }],
    platforms: [{ platform_id: '15', platform_name: 'SNES', first_release_date: '1995-03-11' }],
    sample_cover: { image: 'http://www.mobygames.com/images/covers/l/1.jpg' },
    sample_screenshots: [{ image: '/screenshots/1.png' }, { image: 7 }]
  }])
  t.match(await definition.identify?.(createSnesRom('Chrono Harbor.sfc'), ctx), {
    id: 4711,
    genres: ['Action'],
    average_rating: 83,
    first_release_date: Date.UTC(1995, 2, 11),
    media: [{ kind: 'cover', url: 'http://www.mobygames.com/images/covers/l/1.jpg' }],
    metadata: { moby_score: '8.3', platforms: [{ moby_id: 15, name: 'SNES' }] }
  })
})

test('any response of MobyGames yields valid matches', async (t) => {
  const keys = Object.keys(GAME).filter((key) => key !== 'game_id' && key !== 'title')
  const entry = fc.record({
    title: fc.anything(), genre_name: fc.anything(), genre_category_id: fc.anything(), platform_id: fc.anything(),
    platform_name: fc.anything(), first_release_date: fc.anything(), image: fc.anything()
  }, { requiredKeys: [] })
  const value = fc.oneof(fc.jsonValue(), fc.array(entry), entry)
  const game = fc.record({
    ...Object.fromEntries(keys.map((key) => [key, value])),
    game_id: fc.integer({ min: 1 }),
    title: fc.string({ minLength: 1, maxLength: 500 })
  })
  fc.assert(fc.property(game, (game) => {
    const match = toMatch(game, [15])
    return Value.Check(MatchSchema, match) && Value.Check(MetadataSchema, match.metadata)
  }))
  t.pass('random games gave valid matches')
})
