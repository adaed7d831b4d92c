import {
  CredentialsRefusedError, MatchSchema, type Preferences, RateLimitedError, type Rom,
  ServiceDownError
} from '@svc/plugin-sdk'
import { Value } from '@sinclair/typebox/value'
import {
  type PlannedResponse, type RecordedRequest, type TestContext, createContext, createRom, loadResponses, testProvider
} from '@svc/plugin-sdk/testing'
import fc from 'fast-check'
import { test } from 'tap'
import type { Game } from '../src/api.ts'
import provider from '../src/index.ts'
import { toMatch } from '../src/map.ts'
import { MetadataSchema } from '../src/metadata.ts'
import { searchQuery } from '../src/query.ts'
import { chooseRegion } from '../src/region.ts'

const { definition } = provider
const FIXTURES = new URL('./fixtures', import.meta.url)
const TOKEN = { access_token: 'token-1', expires_in: 5_184_000, token_type: 'bearer' }
const config = { clientId: 'abc', clientSecret: 'hidden' }
const GAME = readGame()

function readGame (): Game {
  const planned = loadResponses(FIXTURES).find(({ url }) => url === 'https://api.igdb.com/v4/games')
  const [game] = planned?.json as [Game]
  return game
}

/** Opens a context in which Twitch issues a token and IGDB answers each query with `find`. */
function openIgdb (
  find: (body: string, endpoint: string) => unknown, preferences: Partial<Preferences> = {}
): TestContext<typeof config> {
  return openHttp((request) => isLogin(request)
    ? { url: '*', json: TOKEN }
    : { url: '*', json: find(request.body, request.url.split('/').at(-1) ?? '') }, preferences)
}

function openHttp (
  intercept: (request: RecordedRequest) => PlannedResponse, preferences: Partial<Preferences> = {}
): TestContext<typeof config> {
  return createContext({ config, intercept, preferences })
}

function isLogin ({ url }: RecordedRequest): boolean {
  return url.startsWith('https://id.twitch.tv/')
}

/** Lists the queries that were sent. */
function bodies ({ requests }: TestContext): string[] {
  return requests.filter((request) => !isLogin(request)).map(({ body }) => body)
}

interface RomOptions { platformIds?: number[], regionCodes?: string[] }

function createSnesRom (fsName: string, { platformIds = [19, 58], regionCodes = [] }: RomOptions = {}): Rom {
  return createRom({ fs_name: fsName, region_codes: regionCodes, platform: { ids: platformIds } })
}

test('conforms', async (t) => {
  await testProvider(t, provider, {
    packageUrl: new URL('../package.json', import.meta.url),
    config,
    responses: FIXTURES,
    known: { rom: { fs_name: 'Chrono Harbor (USA).sfc', region_codes: ['us'] }, id: 4711, name: 'Chrono Harbor' }
  })
})

test('a file matches by name among own releases of its platform and its twin', async (t) => {
  const ctx = openIgdb(() => [GAME])
  const match = await definition.identify?.(createSnesRom('Chrono Harbor (USA) [!].sfc'), ctx)
  t.match(match, { id: 4711, score: 1, name: 'Chrono Harbor', slug: 'chrono-harbor' })
  t.equal(bodies(ctx).length, 1)
  t.match(bodies(ctx)[0], /^search "chrono harbor"; fields id,name,/)
  t.match(bodies(ctx)[0], 'where (platforms=[19] | platforms=[58]) & game_type=(0,4,8,9,10,11); limit 200;')
})

test('requests carry id and token; only Twitch gets the secret, as a form', async (t) => {
  const ctx = openIgdb(() => [GAME])
  await definition.identify?.(createSnesRom('Chrono Harbor.sfc'), ctx)
  const [login, games] = ctx.requests
  t.match(login, { url: 'https://id.twitch.tv/oauth2/token', body: 'client_secret=hidden' })
  t.match(games?.headers, { 'client-id': 'abc', authorization: 'Bearer token-1' })
  t.notMatch(JSON.stringify(games), 'hidden')
})

test('the common fields and the record of a game are filled', async (t) => {
  const match = toMatch(GAME, { platformIds: [19, 58] })
  t.match(match, {
    summary: /chain of islands/,
    alternative_names: ['Harbor of Ages'],
    genres: ['Role-playing (RPG)', 'Adventure'],
    franchises: ['Chrono', 'Harbor'],
    collections: ['Chrono Harbor'],
    companies: ['Harbor Works', 'Quay Publishing'],
    developers: ['Harbor Works'],
    publishers: ['Quay Publishing'],
    game_modes: ['Single player', 'Co-operative'],
    age_ratings: ['E10+', '12'],
    min_age: 12,
    player_count: '1-2',
    first_release_date: 794_880_000_000,
    average_rating: 81.4375,
    youtube_video_id: 'AbCdEfGhIjK'
  })
  t.same(match.media, [
    { kind: 'cover', url: 'https://images.igdb.com/igdb/image/upload/t_1080p/coharb1.jpg' },
    { kind: 'screenshot', url: 'https://images.igdb.com/igdb/image/upload/t_720p/scharb1.jpg' },
    { kind: 'screenshot', url: 'https://images.igdb.com/igdb/image/upload/t_720p/scharb2.jpg' }
  ])
  t.match(match.metadata, {
    total_rating: '81.44',
    aggregated_rating: '79.00',
    first_release_date: 794_880_000,
    age_ratings: [
      { rating: 'E10+', category: 'ESRB', rating_cover_url: 'https://www.igdb.com/icons/rating_icons/esrb/esrb_e10.png' },
      { rating: '12', category: 'PEGI', rating_cover_url: 'https://www.igdb.com/icons/rating_icons/pegi/pegi_12.png' }
    ],
    platforms: [{ igdb_id: 19, name: 'Super Nintendo Entertainment System' }],
    ports: [{ id: 4790, name: 'Chrono Harbor Mobile', slug: 'chrono-harbor-mobile', type: 'port' }],
    dlcs: []
  })
  t.same(match.metadata?.similar_games,
    [{ id: 5100, name: 'Tide Keepers', slug: 'tide-keepers', type: 'similar', cover_url: '' }])
})

test('the strictest age rating counts; one without an age does not', async (t) => {
  const viewpoint = {}
  const ageOf = (ratings: unknown) => toMatch({ ...GAME, age_ratings: ratings }, viewpoint).min_age
  t.equal(ageOf([{ rating_category: 3 }, { rating_category: 11 }, { rating_category: 13 }]), 16)
  t.equal(ageOf([{ rating_category: 1 }, { rating_category: { rating: '12' } }]), undefined)
})

test('without platforms all multiplayer modes count', async (t) => {
  t.equal(toMatch(GAME, {}).player_count, '1-8')
  t.equal(toMatch(GAME, { platformIds: [4] }).player_count, '1')
})

test('title and cover are localised for the ROM\'s region, with fallbacks', async (t) => {
  const identify = async (regions: string[]) =>
    await definition.identify?.(createSnesRom('Chrono Harbor.sfc'), openIgdb(() => [GAME], { regions }))
  const japanese = await identify(['jp', 'us'])
  t.match(japanese, { name: 'クロノハーバー', media: { 0: { url: /coharbjp/ } } })
  const european = await identify(['ss', 'eu'])
  t.match(european, { name: 'Chrono Port', media: { 0: { url: /coharb1/ } } })
})

test('the first preferred region for which IGDB has texts decides', async (t) => {
  t.equal(chooseRegion(['jp', 'us', 'eu']), 'ja-JP')
  t.equal(chooseRegion(['us', 'eu']), undefined)
  t.equal(chooseRegion(['fr', 'eu']), 'EU')
  t.equal(chooseRegion(['ss', 'kr']), 'ko-KR')
  t.equal(chooseRegion([]), undefined)
  t.equal(chooseRegion(['constructor']), undefined)
  const american = createSnesRom('Chrono Harbor.sfc', { regionCodes: ['us'] })
  const found = await definition.identify?.(american, openIgdb(() => [GAME], { regions: ['jp', 'us'] }))
  t.match(found, { name: 'クロノハーバー' }, 'an owner who wants one region for all has it')
})

test('a longer title matches only if a wider search finds no better one', async (t) => {
  const sequel = { id: 1, name: 'Portable Ops Plus' }
  const wanted = { id: 2, name: 'Something Else', alternative_names: [{ name: 'Portable Ops' }] }
  const ctx = openIgdb((body, endpoint) => {
    if (endpoint === 'search') return [{ id: 900, name: 'Portable Ops', game: { id: 2 } }, { id: 901, name: 'orphan' }]
    return body.includes('where id=2;') ? [wanted] : [sequel]
  })
  t.match(await definition.identify?.(createSnesRom('Portable Ops.iso'), ctx), { id: 2, score: 1 })
  const [first, second, third, fourth] = bodies(ctx)
  t.match(first, 'game_type=')
  t.notMatch(second, 'game_type=')
  t.match(third, 'where (game.platforms=[19] | game.platforms=[58]) & ' +
    '(name ~ *"portable ops"* | alternative_name ~ *"portable ops"*); limit 200;')
  t.match(fourth, 'where id=2;')
})

test('an unknown name is searched widely once', async (t) => {
  const ctx = openIgdb(() => [])
  t.equal(await definition.identify?.(createSnesRom('Homebrew Test.sfc'), ctx), undefined)
  t.equal(bodies(ctx).length, 3)
})

test('a neighbouring sequel does not match', async (t) => {
  const ctx = openIgdb((_, endpoint) =>
    endpoint === 'games' ? [{ id: 1, name: 'Harbor Quest II' }] : [])
  t.equal(await definition.identify?.(createSnesRom('Harbor Quest 3.sfc'), ctx), undefined)
})

test('the lowest id wins among equal names, and main names win over others', async (t) => {
  const ctx = openIgdb(() => [
    { id: 3, name: 'Other', alternative_names: [{ name: 'Tide' }] }, { id: 9, name: 'Tide' }, { id: 7, name: 'Tide' }
  ])
  t.match(await definition.identify?.(createSnesRom('Tide.sfc'), ctx), { id: 7 })
})

test('a file with a short name is found by the title of that name', async (t) => {
  const ctx = openIgdb((body) => body.includes('"harbor fighters"') ? [{ id: 9, name: 'Harbor Fighters' }] : [])
  const rom = createRom({ fs_name: 'hbrf2.zip', titles: ['Harbor Fighters', 'hbrf2'], platform: { slug: 'arcade', ids: [52] } })
  t.match(await definition.identify?.(rom, ctx), { id: 9, score: 1 })
})

test('an unknown platform and a name without a word cause no request', async (t) => {
  const ctx = openIgdb(() => [GAME])
  t.equal(await definition.identify?.(createSnesRom('Chrono Harbor.sfc', { platformIds: [] }), ctx), undefined)
  t.equal(await definition.identify?.(createSnesRom('!!!.sfc'), ctx), undefined)
  t.same(await definition.search?.({ term: ' ', platform: createSnesRom('x').platform }, ctx), [])
  t.equal(ctx.requests.length, 0)
})

test('ScummVM games are searched by keyword', async (t) => {
  const ctx = openIgdb(() => [])
  t.equal(await definition.identify?.(createSnesRom('Tide Keepers', { platformIds: [50501] }), ctx), undefined)
  t.notOk(ctx.requests.some(({ url }) => url.endsWith('/search')))
  t.match(bodies(ctx)[0], 'where (keywords=[50501]) & game_type')
})

/** Any character. The `binary` of fast-check would first build a table of all million characters. */
const character = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))
test('quotes, backslashes and control characters stay inside their string', async (t) => {
  const ctx = openIgdb(() => [])
  await definition.search?.({ term: 'say "hi\\"\n; limit 1', platform: createSnesRom('x').platform }, ctx)
  t.match(bodies(ctx)[0], /^search "say \\"hi\\\\\\" ; limit 1"; fields /)
  fc.assert(fc.property(fc.string({ unit: character }), (term) => {
    const body = searchQuery(term, [19], false)
    const string = /^search "((?:[^"\\]|\\["\\])*)"; fields /.exec(body)
    return string !== null && !/\p{Cc}/u.test(string[1] ?? '')
  }))
})

test('a manual search lists all games, the most similar first', async (t) => {
  const ctx = openIgdb((body, endpoint) => {
    if (endpoint === 'search') return [{ id: 1, game: { id: 5 } }, { id: 2, game: { id: 4711 } }]
    return body.includes('where id=5;') ? [{ id: 5, name: 'Chrono Harbor Deluxe' }] : [{ id: 6, name: 'Dock' }, GAME]
  })
  const matches = await definition.search?.({ term: 'Chrono Harbor', platform: createSnesRom('x').platform }, ctx)
  t.same(matches?.map(({ id }) => id), [4711, 5, 6])
  t.ok(matches?.every(({ score = -1 }) => score >= 0 && score <= 1))
  t.notOk(bodies(ctx).some((body) => body.includes('game_type')))
})

test('a game is read by its id, without a platform', async (t) => {
  const ctx = openIgdb((body) => body.includes('where id=4711;') ? [GAME] : [], { regions: ['jp'] })
  t.match(await definition.getById?.(4711, undefined, ctx), { id: 4711, name: 'クロノハーバー', score: undefined })
  t.equal(await definition.getById?.(12, undefined, ctx), undefined)
  t.equal(bodies(ctx).length, 2)
})

test('an id that is no number causes no request', async (t) => {
  const ctx = openIgdb(() => [GAME])
  for (const id of ['chrono-harbor', '', '1 | id>0', -1, 0.5]) {
    t.equal(await definition.getById?.(id as number, undefined, ctx), undefined)
  }
  t.equal(ctx.requests.length, 0)
})

test('the token is fetched once for concurrent calls and cached', async (t) => {
  const ctx = openIgdb(() => [GAME])
  await Promise.all([1, 2, 3].map(async () => definition.getById?.(4711, undefined, ctx)))
  await definition.getById?.(4711, undefined, ctx)
  t.equal(ctx.requests.filter(isLogin).length, 1)
  const later = { ...ctx, memo: async <T> (_: string, create: () => Promise<T>) => create() }
  await definition.getById?.(4711, undefined, later)
  t.equal(ctx.requests.filter(isLogin).length, 1, 'not even by the next scan')
})

test('a refused token is replaced once for all concurrent calls', async (t) => {
  let issued = 0
  const ctx = openHttp((request) => {
    if (isLogin(request)) return { url: '*', json: { ...TOKEN, access_token: `token-${++issued}` } }
    return request.headers.authorization === 'Bearer token-2' ? { url: '*', json: [GAME] } : { url: '*', status: 401 }
  })
  const matches = await Promise.all([1, 2].map(async () => definition.getById?.(4711, undefined, ctx)))
  t.match(matches, [{ id: 4711 }, { id: 4711 }])
  t.equal(issued, 2)
  t.equal(bodies(ctx).length, 4)
})

test('a fresh token that is refused pauses the provider', async (t) => {
  const ctx = openHttp((request) => isLogin(request) ? { url: '*', json: TOKEN } : { url: '*', status: 401 })
  await t.rejects(Promise.resolve(definition.heartbeat?.(ctx)), CredentialsRefusedError)
  t.equal(bodies(ctx).length, 2)
})

test('refused credentials pause the provider without showing the secret', async (t) => {
  for (const status of [400, 401, 403]) {
    const ctx = openHttp(() => ({ url: '*', status, json: { status, message: 'invalid client secret' } }))
    const err: unknown = await definition.heartbeat?.(ctx).catch((err: unknown) => err)
    t.ok(err instanceof CredentialsRefusedError)
    t.match(String(err), `'abc' or its secret with status ${status}`)
    t.notMatch(String(err), 'hidden')
  }
})

test('a busy or failing Twitch does not count as refused credentials', async (t) => {
  const open = (status: number) => openHttp(() => ({ url: '*', status }))
  await t.rejects(Promise.resolve(definition.heartbeat?.(open(429))), RateLimitedError)
  await t.rejects(Promise.resolve(definition.heartbeat?.(open(503))), ServiceDownError)
})

test('a response that is no list and an incomplete token are an outage', async (t) => {
  const noList = openIgdb(() => ({ message: 'Too Many Requests' }))
  await t.rejects(async () => await definition.identify?.(createSnesRom('Chrono Harbor.sfc'), noList), ServiceDownError)
  const noToken = openHttp(() => ({ url: '*', json: { expires_in: 'soon' } }))
  await t.rejects(async () => await definition.identify?.(createSnesRom('Chrono Harbor.sfc'), noToken), ServiceDownError)
})

test('the heartbeat succeeds when IGDB lists a game', async (t) => {
  t.equal(await definition.heartbeat?.(openIgdb(() => [{ id: 1 }])), true)
  t.equal(await definition.heartbeat?.(openIgdb(() => [])), false)
})

test('malformed games are skipped', async (t) => {
  const ctx = openIgdb((_, endpoint) =>
    endpoint === 'games' ? [null, 7, {}, { id: 'x', name: 'Chrono Harbor' }, { id: 1, name: 5 }, GAME] : [null, { game: 3 }])
  t.match(await definition.identify?.(createSnesRom('Chrono Harbor.sfc'), ctx), { id: 4711 })
})

test('any response of IGDB yields valid matches', async (t) => {
  const keys = Object.keys(GAME).filter((key) => key !== 'id' && key !== 'name')
  const related = fc.record({ id: fc.anything(), name: fc.anything(), url: fc.anything() }, { requiredKeys: [] })
  const value = fc.oneof(fc.jsonValue(), fc.array(related), related)
  const game = fc.record({
    ...Object.fromEntries(keys.map((key) => [key, value])),
    id: fc.integer(),
    name: fc.string({ minLength: 1, maxLength: 500 })
  })
  t.equal(toMatch({ ...GAME, first_release_date: 1_734_119_895_201_672 }, {}).first_release_date, undefined)
  fc.assert(fc.property(game, (game) => {
    const match = toMatch(game, { region: 'EU' })
    return Value.Check(MatchSchema, match) && Value.Check(MetadataSchema, match.metadata)
  }))
  t.pass('random games gave valid matches')
})

test('a platform lists its own id first', async (t) => {
  t.same([definition.platforms?.snes, definition.platforms?.sfam], [[19, 58], [58, 19]])
  t.same([definition.platforms?.nes, definition.platforms?.famicom], [[18, 99], [99, 18]])
  t.equal(definition.platforms?.n64, 4)
})
