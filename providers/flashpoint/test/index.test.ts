import { MatchSchema, RateLimitedError, type Rom, ServiceDownError } from '@svc/plugin-sdk'
import { Value } from '@sinclair/typebox/value'
import {
  type PlannedResponse, type RecordedRequest, createContext, createRom, testProvider
} from '@svc/plugin-sdk/testing'
import fc from 'fast-check'
import { test } from 'tap'
import provider from '../src/index.ts'
import { toMatch } from '../src/map.ts'
import { MetadataSchema } from '../src/metadata.ts'

const { definition } = provider
const FIXTURES = new URL('./fixtures', import.meta.url)
const ID = '1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f'
const config = { enabled: true }

function createBrowserRom (fsName: string): Rom {
  return createRom({ fs_name: fsName, platform: { slug: 'browser', ids: [1] } })
}

function openHttp (intercept: (request: RecordedRequest) => Partial<PlannedResponse>) {
  return createContext({ config, intercept: (request) => ({ url: '*', ...intercept(request) }) })
}

const openGames = (...games: unknown[]) => openHttp(() => ({ json: games }))
const openFixtures = () => createContext({ config, responses: FIXTURES })
const gameOf = (digit: string, title: string, more: object = {}) => ({ id: ID.replace(/^1/, digit), title, ...more })
const paramsOf = ({ url }: RecordedRequest) => Object.fromEntries(new URL(url).searchParams)

test('conforms', async (t) => {
  await testProvider(t, provider, {
    packageUrl: new URL('../package.json', import.meta.url),
    config,
    responses: FIXTURES,
    known: { rom: { fs_name: 'Paper Fortress.zip', platform: { slug: 'browser' } }, id: ID, name: 'Paper Fortress' }
  })
})

test('a file matches by title with all fields, and not its sequel', async (t) => {
  const ctx = openFixtures()
  const match = await definition.identify?.(createBrowserRom('The Paper_Fortress (Flash) [v1.2].zip'), ctx)
  t.same(ctx.requests.map(paramsOf), [{ smartSearch: 'paper fortress', filter: 'false' }])
  t.match(match, {
    id: ID,
    score: 1,
    name: 'Paper Fortress',
    summary: 'Fold walls,\nhold the hill.',
    alternative_names: ['Paper Fort', 'ペーパーフォート'],
    franchises: ['Paper'],
    companies: ['Fold Studio', 'Example Portal'],
    developers: ['Fold Studio'],
    publishers: ['Example Portal'],
    genres: ['Strategy', 'Tower Defense'],
    game_modes: ['Single Player', 'Cooperative'],
    first_release_date: Date.UTC(2008, 4, 14)
  })
  t.same(match?.media, [
    { kind: 'cover', url: `https://infinity.unstable.life/images/Logos/1c/2d/${ID}.png?type=jpg` },
    { kind: 'screenshot', url: `https://infinity.unstable.life/images/Screenshots/1c/2d/${ID}.png?type=jpg` }
  ])
  t.same(match?.metadata, {
    franchises: ['Paper'],
    companies: ['Fold Studio', 'Example Portal'],
    genres: ['Strategy', 'Tower Defense'],
    game_modes: ['Single Player', 'Cooperative'],
    first_release_date: '1210723200',
    source: 'https://example.com/paperfortress',
    status: 'Playable',
    version: '1.2',
    language: 'en',
    notes: null
  })
})

test('a partial release date and lists written as text are read', async (t) => {
  const match = toMatch(gameOf('1', 'Tide', { releaseDate: '2008-05', tags: 'Strategy; Puzzle', alternateTitles: null }))
  t.match(match, { first_release_date: undefined, genres: ['Strategy', 'Puzzle'], alternative_names: [] })
  t.match(match.metadata, { first_release_date: '', companies: [], notes: null })
  t.match(toMatch(gameOf('1', 'Tide', { alternateTitles: ['Ebb', 7, 'Flow'], playMode: ['Single Player'] })),
    { alternative_names: ['Ebb', 'Flow'], game_modes: ['Single Player'] })
})

test('an id in the file name takes precedence over the title', async (t) => {
  const ctx = openFixtures()
  t.match(await definition.identify?.(createBrowserRom(`Some name ${ID.toUpperCase()}.zip`), ctx), { id: ID, score: undefined })
  t.same(ctx.requests.map(paramsOf), [{ id: ID, filter: 'false' }])
})

test('a game is read by its whole id only', async (t) => {
  const ctx = openFixtures()
  t.match(await definition.getById?.(ID, undefined, ctx), { id: ID, name: 'Paper Fortress' })
  t.equal(await definition.getById?.(ID.replace('1c', '1d'), undefined, ctx), undefined)
  t.equal(ctx.requests.length, 2)
  t.equal(await definition.getById?.('1c2d', undefined, ctx), undefined)
  t.equal(ctx.requests.length, 2)
})

test('commas do not split a title, and other scripts are sent unchanged', async (t) => {
  const ctx = openGames(gameOf('2', 'Tide', { alternateTitles: 'ペーパーフォート' }))
  await definition.identify?.(createBrowserRom('Hop, Skip, Jump!.zip'), ctx)
  t.match(await definition.identify?.(createBrowserRom('ペーパーフォート.zip'), ctx), { name: 'Tide', score: 1 })
  t.same(ctx.requests.map((request) => paramsOf(request).smartSearch), ['hop skip jump!', 'ペーパーフォート'])
})

test('the most similar title wins, the first on a tie, and no sequel', async (t) => {
  const ctx = openGames(gameOf('2', 'Harbor Quest 2'), gameOf('3', 'Harbor Quest 3'), gameOf('4', 'Harbor Quest 3'))
  t.match(await definition.identify?.(createBrowserRom('Harbor Quest III.zip'), ctx), { id: gameOf('3', '').id })
  t.equal(await definition.identify?.(createBrowserRom('Harbor Quest 4.zip'), ctx), undefined)
  t.equal(await definition.identify?.(createBrowserRom('Tetris.zip'), ctx), undefined)
})

test('a title without a word and another platform cause no request', async (t) => {
  const ctx = openGames(gameOf('1', '!!!'))
  t.equal(await definition.identify?.(createBrowserRom('!!!.zip'), ctx), undefined)
  t.same(await definition.search?.({ term: ' , ', platform: createBrowserRom('x').platform }, ctx), [])
  t.equal(ctx.requests.length, 0)
  t.same(definition.platforms, { browser: 1 })
})

test('a manual search lists all games, the most similar first', async (t) => {
  const ctx = openGames(gameOf('2', 'Tide Keepers'), gameOf('3', 'Tide'))
  const matches = await definition.search?.({ term: 'Tide', platform: createBrowserRom('x').platform }, ctx)
  t.same(matches?.map(({ name }) => name), ['Tide', 'Tide Keepers'])
})

test('a rate limit, an outage and unusable responses are errors', async (t) => {
  const ask = async (answer: Partial<PlannedResponse>) =>
    definition.identify?.(createBrowserRom('Tide.zip'), openHttp(() => answer))
  await t.rejects(ask({ status: 429 }), RateLimitedError)
  for (const answer of [{ status: 500 }, { text: '<!doctype html>' }, { text: '' }, { json: { error: 'x' } }]) {
    await t.rejects(ask(answer), ServiceDownError)
  }
  t.equal(await ask({ json: [] }), undefined)
})

test('malformed games are skipped', async (t) => {
  const ctx = openGames(null, 7, {}, { id: 5, title: 'Tide' }, { id: '../../etc', title: 'Tide' }, { id: ID, title: 5 }, gameOf('7', 'Tide'))
  t.match(await definition.identify?.(createBrowserRom('Tide.zip'), ctx), { id: gameOf('7', '').id })
})

test('the heartbeat succeeds when the archive lists a platform', async (t) => {
  t.equal(await definition.heartbeat?.(openFixtures()), true)
  t.equal(await definition.heartbeat?.(openGames()), false)
})

test('any response of the archive yields valid matches', async (t) => {
  const KEYS = ['alternateTitles', 'series', 'developer', 'publisher', 'source', 'tags', 'playMode', 'status', 'version',
    'releaseDate', 'language', 'notes', 'originalDescription']
  const value = fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()), fc.constantFrom('2008-05-14', 'a; b;;'))
  const game = fc.record({
    ...Object.fromEntries(KEYS.map((key) => [key, value])), title: fc.string({ minLength: 1, maxLength: 500 })
  })
  fc.assert(fc.property(game, (game) => {
    const match = toMatch({ ...game, id: ID })
    return Value.Check(MatchSchema, match) && Value.Check(MetadataSchema, match.metadata)
  }))
  t.pass('random games gave valid matches')
})
