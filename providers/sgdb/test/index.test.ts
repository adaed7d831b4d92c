import { CredentialsRefusedError, type Match, RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import {
  type PlannedResponse, type RecordedRequest, createPluginContext, createRom, testProvider
} from '@svc/plugin-sdk/testing'
import t from 'tap'
import provider from '../src/index.ts'

const { definition } = provider
const FIXTURES = new URL('fixtures', import.meta.url)
const API = 'https://www.steamgriddb.com/api/v2'
const config = { apiKey: 'not-a-real-key' }
const ENGLISH = 'https://cdn2.steamgriddb.com/grid/english.png'
const GERMAN = 'https://cdn2.steamgriddb.com/grid/german.png'
const NOT_FOUND = { success: false, status: 404, errors: ['Game not found'] }

interface Options {
  responses?: readonly PlannedResponse[] | URL
  found?: Record<string, Match>
  settings?: object
  languages?: string[]
}

function open ({ responses = FIXTURES, found = {}, settings = {}, languages = ['en'] }: Options = {}) {
  const options = { config: { ...config, ...settings }, preferences: { languages } }
  return createPluginContext(provider, { responses, found, ...options })
}

const identify = (fsName: string, ctx = open()) => definition.identify?.(createRom({ fs_name: fsName }), ctx)

const toPlan = (path: string, json: unknown, more: Partial<PlannedResponse> = {}): PlannedResponse =>
  ({ url: `${API}/${path}`, json, ...more })
const search = (term: string, ...games: { id: number, name: string }[]) =>
  toPlan(`search/autocomplete/${encodeURIComponent(term)}`, { success: true, data: games })
const grids = (id: number, ...urls: string[]) =>
  toPlan(`grids/game/${id}`, { success: true, data: urls.map((url) => ({ url, lock: false })) })
const termsOf = ({ requests }: { requests: readonly RecordedRequest[] }) =>
  requests.flatMap(({ url }) => decodeURIComponent(/autocomplete\/([^?]*)/.exec(url)?.[1] ?? '') || [])

t.test('conforms', (t) => testProvider(t, provider, {
  packageUrl: new URL('../package.json', import.meta.url),
  config,
  responses: FIXTURES,
  known: { rom: { fs_name: 'Chrono Harbor (USA).sfc' }, id: 54321 },
  term: 'Chrono Harbor'
}))

t.test('a cover is found by other providers\' names, else by the file\'s name', async (t) => {
  const named = open({ found: { igdb: { id: 4711, name: 'Chrono Harbor' } } })
  t.same(await identify('chrhb.sfc', named), { id: 54321, score: 1, media: [{ kind: 'cover', url: ENGLISH }] })
  t.match(named.requests, [
    { url: `${API}/search/autocomplete/chrono%20harbor`, headers: { authorization: 'Bearer not-a-real-key' } },
    {
      url: `${API}/grids/game/54321?types=static&nsfw=false&humor=false&epilepsy=false&` +
      'dimensions=600x900%2C342x482%2C660x930%2C512x512%2C1024x1024&limit=50&page=0'
    }
  ])
  t.match(await identify('Chrono Harbor (USA).sfc'), { id: 54321 })
})

t.test('names are tried once each, in provider order, without punctuation', async (t) => {
  const found = {
    gamelist: { id: 'g', name: 'The Quay!' }, launchbox: { id: 1, name: 'THE QUAY' }, moby: { id: 2 }, ss: { id: 3, name: 'Pier' },
    hasheous: { id: 4, name: 'Dock: Deluxe' }, igdb: { id: 5, name: 'Harbor & Co' }, tgdb: { id: 6, name: 'Not asked' }
  }
  const ctx = open({ found, responses: [toPlan('search/*', { success: true, data: [] })] })
  t.equal(await identify('File, The.sfc', ctx), undefined)
  t.same(termsOf(ctx), ['harbor co', 'dock deluxe', 'pier', 'the quay', 'file the'])
})

t.test('the id at Steam takes precedence over names', async (t) => {
  const found = { steam: { id: 400, name: 'Chrono Harbor' } }
  const game = toPlan('games/steam/400', { success: true, data: { id: 9, name: 'Chrono' } })
  const known = open({ found, responses: [game, grids(9, ENGLISH)] })
  t.match(await identify('x.zip', known), { id: 9, score: undefined, media: [{ url: ENGLISH }] })
  const unknown = open({ found, responses: [toPlan('games/steam/400', NOT_FOUND, { status: 404 }), search('x')] })
  t.equal(await identify('x.zip', unknown), undefined)
})

t.test('the lowest id of equal names wins; similar titles do not match', async (t) => {
  const ctx = open({
    responses: [
      search('chrono harbor', { id: 8, name: 'Chrono Harbor' }, { id: 7, name: 'Chrono: Harbor' }), grids(7, ENGLISH),
      search('chrono harbor 3', { id: 8, name: 'Chrono Harbor 2' }, { id: 7, name: 'Chrono Harbor' })
    ]
  })
  t.match(await identify('Chrono Harbor.sfc', ctx), { id: 7 })
  t.equal(await identify('Chrono Harbor 3.sfc', ctx), undefined)
})

t.test('the next name is tried after a game without a cover', async (t) => {
  const found = { igdb: { id: 1, name: 'クロノハーバー' } }
  const responses = [
    search('クロノハーバー', { id: 8, name: 'クロノハーバー' }), grids(8), search('chrono', { id: 9, name: 'Chrono' }), grids(9, ENGLISH)
  ]
  t.match(await identify('Chrono.sfc', open({ found, responses })), { id: 9 })
})

t.test('only titles in Latin script are normalized for a search', async (t) => {
  const ctx = open({ responses: [toPlan('search/*', { success: true, data: [] })] })
  for (const name of ['ポケモンプラチナ', 'Ёлки и йод', 'Pokémon: Ruby!', '★★★', '!!!']) await identify(`${name}.sfc`, ctx)
  t.same(termsOf(ctx), ['ポケモンプラチナ', 'Ёлки и йод', 'pokemon ruby'])
  t.same(await definition.searchCovers?.('half \ud83c', ctx), [])
  t.equal(termsOf(ctx).at(-1), 'half \ufffd')
})

t.test('the cover is in a preferred language and was not removed', async (t) => {
  const coverOf = async (languages: string[]) => (await identify('Chrono Harbor.sfc', open({ languages })))?.media?.[0]?.url
  t.equal(await coverOf(['de', 'en']), GERMAN)
  t.equal(await coverOf(['fr']), ENGLISH)
})

t.test('styles and sizes come from the configuration', async (t) => {
  const ctx = open({ settings: { styles: ['no_logo', 'material'], dimensions: ['512x512'] } })
  await identify('Chrono Harbor.sfc', ctx)
  t.match(ctx.requests.at(-1)?.url, /dimensions=512x512&styles=no_logo%2Cmaterial&/)
})

t.test('a game is read by its id, with or without a cover', async (t) => {
  t.match(await definition.getById?.(54321, undefined, open()), { id: 54321, media: [{ kind: 'cover', url: ENGLISH }] })
  const responses = [toPlan('games/id/2', { success: true, data: { id: 2, name: 'Bare' } }), grids(2), toPlan('games/id/3', NOT_FOUND, { status: 404 })]
  t.same(await definition.getById?.(2, undefined, open({ responses })), { id: 2, media: [] })
  t.equal(await definition.getById?.(3, undefined, open({ responses })), undefined)
  const ctx = open({ responses: [] })
  t.equal(await definition.getById?.(0, undefined, ctx), undefined)
  t.equal(ctx.requests.length, 0)
})

t.test('a person chooses from all covers of all games with that name', async (t) => {
  t.same(await definition.searchCovers?.('chrono harbor', open()), [
    {
      name: 'Chrono Harbor',
      covers: [
        {
          url: GERMAN, thumb: 'https://cdn2.steamgriddb.com/thumb/german.jpg', width: 600, height: 900, style: 'alternate', author: 'jemand',
          score: 5, is_animated: false, nsfw: false, humor: false, epilepsy: false
        },
        {
          url: ENGLISH, thumb: 'https://cdn2.steamgriddb.com/thumb/english.webm', width: 600, height: 900, style: 'white_logo',
          author: 'someone', score: 3, is_animated: true, nsfw: false, humor: true, epilepsy: false
        }
      ]
    },
    { name: 'Chrono Harbor 2', covers: [] }
  ])
})

t.test('pages of covers are read until a short one, whatever the total says', async (t) => {
  const page = (count: number) =>
    ({ success: true, total: 999, data: Array.from({ length: count }, () => ({ url: ENGLISH })) })
  const responses = [
    search('quay', { id: 5, name: 'Quay' }),
    toPlan('grids/game/5', page(50), { query: { page: 0, nsfw: 'any' } }), toPlan('grids/game/5', page(3), { query: { page: 1 } })
  ]
  t.equal((await definition.searchCovers?.('quay', open({ responses })))?.[0]?.covers.length, 53)
})

t.test('a refused key, a rate limit and a page in place of JSON are errors', async (t) => {
  const run = (response: Partial<PlannedResponse>) => async () =>
    await identify('Chrono Harbor.sfc', open({ responses: [{ url: '*', ...response }] }))
  await t.rejects(run({ status: 401, json: { success: false, errors: ['Invalid key format'] } }), CredentialsRefusedError)
  await t.rejects(run({ status: 429 }), RateLimitedError)
  await t.rejects(run({ text: '<html></html>' }), ServiceDownError)
  await t.rejects(run({ json: { success: false, errors: ['odd'] } }), ServiceDownError)
})

t.test('values of another type are skipped', async (t) => {
  const odd = { success: true, data: [null, { id: 'x', name: 'Chrono' }, { id: 1, name: 7 }, { id: '4', name: 'Chrono' }] }
  const covers = { success: true, data: [7, { url: 7 }, { url: 'grid.png' }, { url: ENGLISH, language: [] }] }
  const ctx = open({ responses: [toPlan('search/*', odd), toPlan('grids/game/4', covers)] })
  t.match(await identify('Chrono.sfc', ctx), { id: 4, media: [{ url: ENGLISH }] })
})

t.test('it runs after others for identified games, and searches by name', async (t) => {
  t.match(definition, { kind: 'artwork', order: { when: 'identified' }, heartbeatFlag: 'STEAMGRIDDB_API_ENABLED' })
  const { platform } = createRom({})
  t.match(await definition.search?.({ term: 'Chrono Harbor', platform }, open()), [{ id: 54321 }])
  t.same(await definition.search?.({ term: '!!!', platform }, open()), [])
  t.equal(await definition.heartbeat?.(open()), true)
})
