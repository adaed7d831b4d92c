import { RateLimitedError, type Rom, ServiceDownError } from '@svc/plugin-sdk'
import {
  type PlannedResponse, type RecordedRequest, type RomOverrides, createPluginContext, createRom, testProvider
} from '@svc/plugin-sdk/testing'
import t from 'tap'
import names from '../data/platforms.json' with { type: 'json' }
import provider from '../src/index.ts'

const { definition } = provider
const FIXTURES = new URL('fixtures', import.meta.url)
const SITE = 'https://howlongtobeat.com'
const TIMES = { comp_main: 84_600, comp_plus: 0, comp_100: 0, comp_all: 0 }

function createSnesRom (overrides: RomOverrides): Rom {
  return createRom({ ...overrides, platform: { slug: 'snes', ids: ['super-nintendo'] } })
}

interface Search { terms: string, platform: string, body: Record<string, unknown>, headers: RecordedRequest['headers'] }

/** Opens a site with the given search results and records its searches. */
function openSite (
  find: (search: Search) => unknown, before: (request: RecordedRequest) => PlannedResponse | undefined = () => undefined
) {
  const searches: Search[] = []
  let tokens = 0
  const ctx = createPluginContext(provider, {
    intercept (request) {
      const planned = before(request)
      if (planned !== undefined) return planned
      if (request.method === 'GET') return { url: '*', json: { token: `token-${++tokens}`, hpKey: 'k7f3', hpVal: '9a1c' } }
      const body = JSON.parse(request.body)
      const search = {
        terms: body.searchTerms.join(' '), platform: body.searchOptions.games.platform, body, headers: request.headers
      }
      searches.push(search)
      return { url: '*', json: { data: find(search) } }
    }
  })
  return { ctx, searches }
}

const identify = (fsName: string, ctx: ReturnType<typeof openSite>['ctx']) =>
  definition.identify?.(createSnesRom({ fs_name: fsName }), ctx)

t.test('conforms', (t) => testProvider(t, provider, {
  packageUrl: new URL('../package.json', import.meta.url),
  responses: FIXTURES,
  known: { rom: { fs_name: 'Chrono Harbor (USA).sfc' }, id: 1705, name: 'Chrono Harbor' }
}))

t.test('a game is found by name on its platform, with its times in seconds', async (t) => {
  const ctx = createPluginContext(provider, { responses: FIXTURES })
  t.same(await identify('Chrono Harbor (USA).sfc', ctx), {
    id: 1705,
    score: 1,
    name: 'Chrono Harbor',
    media: [{ kind: 'cover', url: `${SITE}/games/256px-Chrono%20Harbor.jpg` }],
    metadata: {
      main_story: 84_600,
      main_story_count: 1200,
      main_plus_extra: 97_200,
      main_plus_extra_count: 900,
      completionist: 151_200,
      completionist_count: 300,
      all_styles: 93_600,
      all_styles_count: 2400,
      review_score: 93,
      review_count: 3000,
      popularity: 300,
      completions: 9000,
      release_year: 1995
    }
  })
})

t.test('a search carries the site\'s token, which is requested once', async (t) => {
  const { ctx, searches } = openSite(() => [{ game_id: 5, game_name: 'Chrono Harbor', ...TIMES }])
  await Promise.all([identify('Chrono Harbor.sfc', ctx), identify('Chrono Harbor 5.sfc', ctx)])
  t.match(searches[0], {
    platform: 'Super Nintendo',
    headers: { referer: SITE, 'x-auth-token': 'token-1', 'x-hp-key': 'k7f3', 'x-hp-val': '9a1c' },
    body: { searchType: 'games', searchTerms: ['chrono', 'harbor'], searchPage: 1, size: 20, useCache: true, k7f3: '9a1c' }
  })
  t.equal(ctx.requests.filter(({ url }) => url.startsWith(`${SITE}/api/bleed/init?t=`)).length, 1)
})

t.test('a different name, a different number and a game without times do not match', async (t) => {
  const find = (name: string, times: object = TIMES) =>
    identify('Chrono Harbor 2.sfc', openSite(() => [{ game_id: 5, game_name: name, ...times }]).ctx)
  t.equal(await find('Tide Keepers'), undefined)
  t.equal(await find('Chrono Harbor 3'), undefined)
  t.equal(await find('Chrono Harbor 2', { comp_main: 0 }), undefined)
  t.match(await find('Chrono Harbor II', { comp_all: '7200' }), { id: 5, metadata: { all_styles: 7200 } })
})

t.test('a better title without times is no match, and no other title is used', async (t) => {
  const games = [{ game_id: 1, game_name: 'Chrono Harbor' }, { game_id: 2, game_name: 'Chrono Harbour', ...TIMES }]
  t.equal(await identify('Chrono Harbor.sfc', openSite(() => games).ctx), undefined)
})

t.test('a game of another platform is found by a second search on any platform', async (t) => {
  const { ctx, searches } = openSite(({ platform }) => platform === '' ? [{ game_id: 5, game_name: 'Chrono Harbor', ...TIMES }] : [])
  t.match(await identify('Chrono Harbor.sfc', ctx), { id: 5 })
  t.same(searches.map(({ platform }) => platform), ['Super Nintendo', ''])
})

t.test('a title with a colon is finally searched by the text after the colon', async (t) => {
  const { ctx, searches } = openSite(({ terms }) =>
    terms === 'second tide' ? [{ game_id: 5, game_name: 'Harbor Saga: Second Tide', ...TIMES }] : [])
  t.match(await identify('Chrono Harbor - Second Tide (USA).sfc', ctx), { id: 5 })
  t.same(searches.map(({ terms }) => terms), ['chrono harbor: second tide', 'chrono harbor: second tide', 'second tide'])
})

t.test('aliases count, and the year of the file decides between equal names', async (t) => {
  const games = [
    { game_id: 1, game_name: 'Doom', release_world: 1993, ...TIMES }, { game_id: 2, game_name: 'Doom', release_world: 2016, ...TIMES },
    { game_id: 3, game_name: 'Harbor', game_alias: 'Port, クロノハーバー', ...TIMES },
    { game_id: 4, game_name: 'Doom', ...TIMES }
  ]
  t.match(await identify('Doom.sfc', openSite(() => games).ctx), { id: 1 })
  t.match(await identify('Doom (2016).sfc', openSite(() => games).ctx), { id: 2 })
  t.match(await identify('クロノハーバー.sfc', openSite(() => games).ctx), { id: 3, score: 1 })
})

t.test('a title in another script is sent unchanged, a short name by its title', async (t) => {
  const { ctx, searches } = openSite(() => [])
  for (const name of ['クロノ ドラゴン - バグ.sfc', '바다.sfc', 'Йога.sfc', 'Pokémon.sfc', '!!!.sfc']) await identify(name, ctx)
  await definition.identify?.(createSnesRom({ fs_name: 'ch2.zip', titles: ['Chrono Harbor II', 'ch2'] }), ctx)
  t.same(searches.filter(({ platform }) => platform === 'Super Nintendo').map(({ terms }) => terms),
    ['クロノ ドラゴン: バグ', 'バグ', '바다', 'Йога', 'pokemon', 'chrono harbor ii'])
})

t.test('a refused token is replaced once for all concurrent searches', async (t) => {
  const { ctx, searches } = openSite(() => [{ game_id: 5, game_name: 'Chrono Harbor', ...TIMES }],
    ({ headers }) => headers['x-auth-token'] === 'token-1' ? { url: '*', status: 403 } : undefined)
  const names = ['Chrono Harbor.sfc', 'Chrono Harbor (Europe).sfc']
  t.match(await Promise.all(names.map(async (name) => await identify(name, ctx))), [{ id: 5 }, { id: 5 }])
  t.ok(searches.every(({ headers }) => headers['x-auth-token'] === 'token-2'))
  t.equal(ctx.requests.filter(({ method }) => method === 'GET').length, 2)
  const shut = openSite(() => [], ({ method }) => method === 'POST' ? { url: '*', status: 403 } : undefined)
  await t.rejects(async () => await identify('Chrono Harbor.sfc', shut.ctx), /refused every token/)
})

t.test('the new word of a moved search is read from the pages and cached', async (t) => {
  const pages = (request: RecordedRequest): PlannedResponse | undefined => {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/api/bleed')) return { url: '*', status: 404 }
    if (pathname === '/') return { url: '*', text: '<script src="/_next/static/chunks/pages/_app-1a2b.js" defer=""></script>' }
    if (pathname.endsWith('_app-1a2b.js')) {
      return { url: '*', text: 'fetch("/api/user/x"),fetch("/api/ping",{method:"GET"});let r=await fetch("/api/locate/",{headers:h,method:"POST"})' }
    }
    return undefined
  }
  const { ctx } = openSite(() => [{ game_id: 5, game_name: 'Chrono Harbor', ...TIMES }], pages)
  t.match(await identify('Chrono Harbor.sfc', ctx), { id: 5 })
  t.match(ctx.requests.at(-1)?.url, `${SITE}/api/locate`)
  t.equal(await ctx.cache.get('search word instead of bleed'), 'locate')
  t.equal(await ctx.cache.get('search word instead of seek'), undefined, 'a word that the owner sets is tried first')

  const silent = openSite(() => [{ game_id: 5, game_name: 'Chrono Harbor', ...TIMES }], ({ url }) =>
    url === `${SITE}/` ? { url: '*', text: '<html>' } : url.includes('/api/bleed') ? { url: '*', status: 404 } : undefined)
  t.match(await identify('Chrono Harbor.sfc', silent.ctx), { id: 5 })
  t.match(silent.ctx.requests.at(-1)?.url, `${SITE}/api/find`)

  const lost = openSite(() => [], ({ url }) => url === `${SITE}/` ? { url: '*', text: '<html>' } : { url: '*', status: 404 })
  await t.rejects(async () => await identify('Chrono Harbor.sfc', lost.ctx), /set HLTB_SEARCH_WORD/)
})

t.test('search results are cached, an empty result is not', async (t) => {
  const { ctx, searches } = openSite(({ terms }) => terms === 'dock' ? [] : [{ game_id: 5, game_name: 'Chrono Harbor', ...TIMES }])
  await identify('Chrono Harbor.sfc', ctx)
  await identify('Chrono Harbor (Rev 1).sfc', ctx)
  t.equal(searches.length, 1)
  await identify('Dock.sfc', ctx)
  await identify('Dock.sfc', ctx)
  t.equal(searches.length, 5)
})

t.test('a game is read from its page by its id', async (t) => {
  const ctx = createPluginContext(provider, {
    responses: [
      { url: `${SITE}/game/7`, status: 404 },
      { url: `${SITE}/game/8`, text: '<script type="application/json" id="__NEXT_DATA__">{"props":{"pageProps":{"game":{"data":{"game":[]}}}}}</script>' },
      { url: `${SITE}/game/9`, text: '<html>new page</html>' },
      { url: `${SITE}/game/10`, text: '<script id="__NEXT_DATA__">{"props":</script>' }
    ]
  })
  const known = createPluginContext(provider, { responses: FIXTURES })
  const match = await definition.getById?.(1705, undefined, known)
  t.match(match, { id: 1705, name: 'Chrono Harbor', metadata: { main_story: 84_600, release_year: 1995, completions: 9000 } })
  t.notOk(Object.hasOwn(match?.metadata ?? {}, 'main_plus_extra'), 'zero is not known')
  t.equal(await definition.getById?.(7, undefined, ctx), undefined)
  t.equal(await definition.getById?.(8, undefined, ctx), undefined)
  await t.rejects(async () => await definition.getById?.(9, undefined, ctx), /pages may have changed/)
  await t.rejects(async () => await definition.getById?.(10, undefined, ctx), ServiceDownError)
})

t.test('a manual search lists all games, also those without times', async (t) => {
  const { platform } = createSnesRom({})
  const { ctx, searches } = openSite(() => [{ game_id: 1, game_name: 'Doom II' }, { game_id: 2, game_name: 'Doom' }])
  t.match(await definition.search?.({ term: 'Doom (2016)', platform }, ctx), [{ id: 2, score: 1 }, { id: 1 }])
  t.equal(searches[0]?.terms, 'doom')
})

t.test('rate limits and pages are errors, and fields of another type are ignored', async (t) => {
  const fail = (response: Partial<PlannedResponse>) => async () =>
    await identify('Chrono Harbor.sfc', openSite(() => [], ({ method }) => method === 'POST' ? { url: '*', ...response } : undefined).ctx)
  await t.rejects(fail({ status: 429 }), RateLimitedError)
  await t.rejects(fail({ text: '<html></html>' }), ServiceDownError)
  await t.rejects(fail({ json: { data: 'none' } }), ServiceDownError)
  const noToken = openSite(() => [], () => ({ url: '*', json: { token: 'a', hpKey: null, hpVal: 'c' } }))
  await t.rejects(async () => await identify('Chrono Harbor.sfc', noToken.ctx), /no complete token/)
  const odd = { game_id: '5', game_name: 'Chrono Harbor', game_image: 7, comp_main: 3600, comp_100: 'long', count_comp: null, release_world: [] }
  t.same(await identify('Chrono Harbor.sfc', openSite(() => [null, 7, odd]).ctx),
    { id: 5, score: 1, name: 'Chrono Harbor', media: [], metadata: { main_story: 3600 } })
})

t.test('the heartbeat succeeds when the statistics respond', async (t) => {
  t.equal(await definition.heartbeat?.(createPluginContext(provider, { responses: FIXTURES })), true)
})

t.test('every platform in the table has a name at the site', async (t) => {
  t.same(new Set(Object.keys(names)), new Set(Object.values(definition.platforms ?? {})))
  t.equal(names['sega-mega-drive-genesis'], 'Sega Mega Drive/Genesis')
})
