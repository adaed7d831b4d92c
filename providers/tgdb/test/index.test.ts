import {
  CredentialsRefusedError, MatchSchema, RateLimitedError, type Rom, ServiceDownError
} from '@svc/plugin-sdk'
import { Value } from '@sinclair/typebox/value'
import {
  type PlannedResponse, type RecordedRequest, type TestContext, createContext, createRom, testProvider
} from '@svc/plugin-sdk/testing'
import fc from 'fast-check'
import { test } from 'tap'
import provider from '../src/index.ts'

const { definition } = provider
const FIXTURES = new URL('./fixtures', import.meta.url)
const config = { enabled: true, apiKey: 'hidden-key' }
const BOXES_ONLY = { media: ['box2d_back'] }
const ROM = createSnesRom('Chrono Harbor (USA).sfc')

function createSnesRom (fsName: string, platformIds = [6]): Rom {
  return createRom({ fs_name: fsName, platform: { ids: platformIds } })
}

/** Opens a context in which TheGamesDB lists only these games. */
function openGames (...games: unknown[]) {
  return openHttp(() => ({ url: '*', json: { code: 200, status: 'Success', data: { count: games.length, games } } }))
}

function openHttp (intercept: (request: RecordedRequest) => PlannedResponse) {
  return createContext({ config, intercept, preferences: BOXES_ONLY })
}

const paths = ({ requests }: TestContext) => requests.map(({ url }) => new URL(url).pathname)

test('conforms', async (t) => {
  await testProvider(t, provider, {
    packageUrl: new URL('../package.json', import.meta.url),
    config,
    responses: FIXTURES,
    known: { rom: { fs_name: 'Chrono Harbor (USA).sfc' }, id: 4711, name: 'Chrono Harbor (1995)' }
  })
})

test('a file matches by name on its platform, with all fields and pictures', async (t) => {
  const ctx = createContext({ config, responses: FIXTURES })
  const match = await definition.identify?.(ROM, ctx)
  t.match(match, {
    id: 4711,
    score: 1,
    name: 'Chrono Harbor (1995)',
    summary: 'Sail a chain of islands.\nOne & all.',
    alternative_names: ['Harbor of Ages', 'クロノハーバー'],
    genres: ['Racing', 'Sports'],
    developers: ['Harbor & Works'],
    publishers: ['Quay'],
    companies: ['Harbor & Works', 'Quay'],
    game_modes: ['Co-operative'],
    age_ratings: ['E10+'],
    min_age: 10,
    player_count: '1-2',
    first_release_date: Date.UTC(1995, 2, 11),
    youtube_video_id: 'abC00000000'
  })
  const base = 'https://cdn.thegamesdb.net/images/original/'
  t.same(match?.media, [
    { kind: 'box2d_back', url: `${base}boxart/back/4711-1.jpg` },
    { kind: 'cover', url: `${base}boxart/front/4711-1.png` },
    { kind: 'fanart', url: `${base}fanart/4711-1.jpg` },
    { kind: 'screenshot', url: `${base}screenshots/4711-1.png` },
    { kind: 'logo', url: `${base}clearlogo/4711.png` },
    { kind: 'title_screen', url: `${base}titlescreen/4711-1.jpg` },
    { kind: 'marquee', url: `${base}graphical/4711-g.jpg` }
  ])
})

test('boxes are also read when keyed directly', async (t) => {
  const bases = { original: 'https://cdn.thegamesdb.net/images/original/' }
  const boxart = { base_url: bases, 1: [{ type: 'boxart', side: 'front', filename: 'a.jpg' }] }
  const game = { id: 1, game_title: 'Tide', platform: 6 }
  const json = { code: 200, status: 'Success', data: { games: [game] }, include: { boxart } }
  const ctx = openHttp(() => ({ url: '*', json }))
  t.match(await definition.identify?.(createSnesRom('Tide.sfc'), ctx),
    { media: [{ kind: 'cover', url: 'https://cdn.thegamesdb.net/images/original/a.jpg' }] })
})

test('nothing is requested twice a month, and only preferred media kinds', async (t) => {
  const ctx = createContext({ config, responses: FIXTURES, preferences: BOXES_ONLY })
  await definition.identify?.(ROM, ctx)
  const asked = ['/v1.1/Games/ByGameName', '/v1/Genres', '/v1/Developers', '/v1/Publishers']
  t.same(paths(ctx), asked)
  t.match(await definition.identify?.(createSnesRom('Chrono Harbor (Europe).sfc'), ctx), { id: 4711 })
  const later = { ...ctx, memo: async <T> (_: string, create: () => Promise<T>) => create() }
  t.match(await definition.identify?.(ROM, later), { id: 4711, genres: ['Racing', 'Sports'] })
  t.same(paths(ctx), asked, 'not even by the next scan')
})

test('no key is cached with the responses', async (t) => {
  const kept: unknown[] = []
  const ctx = createContext({ config, responses: FIXTURES })
  const cache = { ...ctx.cache, set: async (key: string, value: unknown) => { kept.push(key, value) } }
  await definition.identify?.(ROM, { ...ctx, cache })
  t.ok(kept.length > 0)
  t.notMatch(JSON.stringify(kept), 'hidden-key')
})

test('the monthly allowance is reported; a private key has no reset date', async (t) => {
  const ctx = createContext({ config, responses: FIXTURES })
  await definition.heartbeat?.(ctx)
  t.match(ctx.allowances, [{ name: 'month', remaining: 963 }])
  t.ok(Math.abs((ctx.allowances[0]?.resetsAt ?? 0) - Date.now() - 1_209_600_000) < 60_000)
  const open = openHttp(() => ({ url: '*', json: { remaining_monthly_allowance: 5, allowance_refresh_timer: null } }))
  t.equal(await definition.heartbeat?.(open), true)
  t.equal(open.allowances.length, 0)
  const texts = openHttp(() => ({
    url: '*', json: { code: '200', remaining_monthly_allowance: '5', extra_allowance: '2', allowance_refresh_timer: '60' }
  }))
  t.equal(await definition.heartbeat?.(texts), true, 'numbers may be texts')
  t.match(texts.allowances, [{ name: 'month', remaining: 7 }])
})

test('only games of the platform count, and a year after a title does not', async (t) => {
  const ctx = openGames({ id: 1, game_title: 'Tide', platform: 18 }, { id: 2, game_title: 'Tide (1993)', platform: 6 })
  t.match(await definition.identify?.(createSnesRom('Tide.sfc'), ctx), { id: 2, score: 1 })
})

test('a game is found by alternative titles, and on its twin platform', async (t) => {
  const ctx = openGames({ id: 1, game_title: 'Chrono Harbor', platform: 6, alternates: ['クロノハーバー'] })
  const rom = createSnesRom('クロノハーバー (Japan).sfc')
  t.match(await definition.identify?.(rom, ctx), { id: 1, score: 1 })
  t.equal(new URL(ctx.requests[0]?.url ?? '').searchParams.get('name'), 'クロノハーバー')
  t.same([definition.platforms?.snes, definition.platforms?.sfam, definition.platforms?.famicom], [6, 6, 7])
})

test('the closer of two titles wins, and a neighbouring sequel does not match', async (t) => {
  const ctx = openGames({ id: 1, game_title: 'Harbor Quest II', platform: 6 }, { id: 2, game_title: 'Harbor Quest III', platform: 6 })
  t.match(await definition.identify?.(createSnesRom('Harbor Quest 3.sfc'), ctx), { id: 2 })
  t.equal(await definition.identify?.(createSnesRom('Harbor Quest 4.sfc'), ctx), undefined)
  t.equal(await definition.identify?.(createSnesRom('Tetris.sfc'), ctx), undefined)
})

test('a short name is searched by its title', async (t) => {
  const ctx = openGames({ id: 9, game_title: 'Tide Fighter II', platform: 23 })
  const rom = createRom({ fs_name: 'tf2.zip', titles: ['Tide Fighter II', 'tf2'], platform: { slug: 'arcade', ids: [23] } })
  t.match(await definition.identify?.(rom, ctx), { id: 9 })
})

test('an unknown platform and a name without a word cause no request', async (t) => {
  const ctx = openGames()
  t.equal(await definition.identify?.(createSnesRom('Tide.sfc', []), ctx), undefined)
  t.equal(await definition.identify?.(createSnesRom('!!!.sfc'), ctx), undefined)
  t.equal(ctx.requests.length, 0)
})

test('it runs only for ROMs that no other provider identified', async (t) => {
  t.equal(definition.order?.when, 'unidentified')
})

test('a game is read by its id', async (t) => {
  const ctx = createContext({ config, responses: FIXTURES })
  t.match(await definition.getById?.(4711, ROM, ctx), { id: 4711, score: undefined, genres: ['Racing', 'Sports'] })
  t.equal(await definition.getById?.(12, ROM, openGames()), undefined)
  for (const id of ['x', -1, 0.5]) t.equal(await definition.getById?.(id as number, undefined, ctx), undefined)
})

test('a manual search lists all games, the most similar first', async (t) => {
  const ctx = openGames({ id: 1, game_title: 'Tide Keepers', platform: 6 }, { id: 2, game_title: 'Tide', platform: 6 })
  t.match(await definition.search?.({ term: 'Tide', platform: ROM.platform }, ctx), [{ id: 2, score: 1 }, { id: 1 }])
})

test('empty values are dropped', async (t) => {
  const game = {
    id: 1, game_title: 'Tide', platform: 6, players: 1, youtube: '', rating: 'Not Rated', coop: 'No', developers: null,
    genres: [null], alternates: null, overview: null, release_date: '0000-00-00'
  }
  const ctx = openHttp(({ url }) => ({
    url: '*', json: { code: 200, status: 'Success', data: url.includes('/Genres') ? { genres: {} } : { games: [game] } }
  }))
  const match = await definition.identify?.(createSnesRom('Tide.sfc'), ctx)
  t.equal(match?.player_count, '1')
  t.same([match?.genres, match?.companies, match?.alternative_names, match?.media], [[], [], [], []])
  for (const key of ['youtube_video_id', 'age_ratings', 'min_age', 'game_modes', 'summary', 'first_release_date'] as const) {
    t.equal(match?.[key], undefined, key)
  }
  const read = async (extra: object) => definition.identify?.(createSnesRom('Tide.sfc'), openGames({ ...game, genres: [], ...extra }))
  t.match(await read({ youtube: 'https://www.youtube.com/watch?v=abC00000000' }), { youtube_video_id: 'abC00000000' })
  t.match(await read({ rating: 'M - Mature 17+' }), { age_ratings: ['M'], min_age: 17 })
})

test('numbers as text, entities in titles and unkeyed lists are accepted', async (t) => {
  const game = {
    id: '1', game_title: 'Tide &amp; Quay', platform: '6', players: '2', genres: ['7'], alternates: ['Ebb &amp; Flow']
  }
  const genres = [{ id: '7', name: 'Racing' }]
  const ctx = openHttp(({ url }) => ({
    url: '*', json: { code: 200, status: 'Success', data: url.includes('/Genres') ? { genres } : { games: [game] } }
  }))
  t.match(await definition.identify?.(createSnesRom('Ebb & Flow.sfc'), ctx), {
    id: 1, score: 1, name: 'Tide & Quay', alternative_names: ['Ebb & Flow'], player_count: '1-2', genres: ['Racing']
  })
})

test('a failed list costs neither the game nor another request', async (t) => {
  const games = [{ id: 1, game_title: 'Tide', platform: 6, genres: [7] }, { id: 2, game_title: 'Quay', platform: 6, genres: [7] }]
  const answer = ({ url }: RecordedRequest): PlannedResponse => url.includes('/Games/ByGameName')
    ? { url: '*', json: { code: 200, status: 'Success', data: { games } } }
    : { url: '*', status: url.includes('/Genres') ? 404 : 500 }
  const ctx = createContext({ config, intercept: answer, preferences: { media: ['screenshot'] } })
  const tide = await definition.identify?.(createSnesRom('Tide.sfc'), ctx)
  t.same([tide?.id, tide?.genres, tide?.media], [1, [], []])
  t.match(await definition.identify?.(createSnesRom('Quay.sfc'), ctx), { id: 2, genres: [] })
  t.equal(paths(ctx).filter((path) => path === '/v1/Genres').length, 1)
  t.match(ctx.logs[0], { level: 'warn', fields: { path: '/v1/Games/Images' } })
  const spent = createContext({
    config, intercept: (request) => request.url.includes('/Images') ? { url: '*', status: 429 } : answer(request)
  })
  await t.rejects(async () => definition.identify?.(createSnesRom('Tide.sfc'), spent), RateLimitedError)
})

test('a wrong key is reported as such, whatever its status', async (t) => {
  for (const code of [401, 403, 418, 499]) {
    for (const status of [code, 200]) {
      const ctx = openHttp(() => ({ url: '*', status, json: { code, status: 'This route requires an API key' } }))
      const err: unknown = await definition.identify?.(ROM, ctx).catch((err: unknown) => err)
      t.ok(err instanceof CredentialsRefusedError, `${code} as ${status}`)
      t.match(String(err), /TGDB_API_KEY/)
    }
  }
})

test('a spent allowance pauses the provider until it resets', async (t) => {
  const spent = { remaining_monthly_allowance: 0, extra_allowance: 0, allowance_refresh_timer: 86_400 }
  const ANSWERS: Partial<PlannedResponse>[] = [
    { status: 429, text: '<html></html>' }, { json: { code: 429, status: 'blocked' } },
    { status: 403, json: { code: 403, status: 'Forbidden', ...spent } },
    { status: 403, json: { code: 403, status: 'You have exceeded your monthly allowance' } }
  ]
  for (const answer of ANSWERS) {
    const ctx = openHttp(() => ({ url: '*', ...answer }))
    await t.rejects(async () => definition.identify?.(ROM, ctx), RateLimitedError)
    t.match(ctx.allowances.at(-1), { name: 'day', remaining: 0 })
  }
})

test('unusable responses and error codes are an outage', async (t) => {
  const ANSWERS: Partial<PlannedResponse>[] = [
    { text: '<!doctype html>' }, { status: 403, text: '<html>Just a moment</html>' }, { json: [] }, { status: 500 },
    { json: { code: 200, status: 'Success', data: { count: 0 } } }, { json: { code: 500, status: 'Database error' } }
  ]
  for (const answer of ANSWERS) {
    await t.rejects(async () => definition.identify?.(ROM, openHttp(() => ({ url: '*', ...answer }))), ServiceDownError)
  }
})

test('any response of TheGamesDB yields valid matches', async (t) => {
  const KEYS = ['release_date', 'players', 'overview', 'rating', 'coop', 'youtube', 'alternates']
  const value = fc.oneof(fc.jsonValue(), fc.integer(), fc.constantFrom('E - Everyone', 'Yes', '1995-03-11'))
  const game = fc.record({
    ...Object.fromEntries(KEYS.map((key) => [key, value])),
    id: fc.integer({ min: 1 }),
    game_title: fc.string({ minLength: 1, maxLength: 500 })
  })
  await fc.assert(fc.asyncProperty(game, async (game) => {
    const match = await definition.getById?.(game.id, undefined, openGames(game))
    return match === undefined || Value.Check(MatchSchema, match)
  }))
  t.pass('random games gave valid matches')
})
