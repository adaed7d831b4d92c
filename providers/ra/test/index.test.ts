import { CredentialsRefusedError, InvalidSettingsError, RateLimitedError, type Rom, ServiceDownError } from '@svc/plugin-sdk'
import {
  type PlannedResponse, type RomOverrides, createPluginContext, createRom, loadResponses, testProvider
} from '@svc/plugin-sdk/testing'
import fc from 'fast-check'
import { test } from 'tap'
import provider from '../src/index.ts'
import { toMatch } from '../src/map.ts'

const { definition } = provider
const FIXTURES = new URL('./fixtures', import.meta.url)
const HASH = '0123456789abcdef0123456789abcdef'
const config = { apiKey: 'a-web-api-key' }
const ada = { ra_username: 'ada' }
const MEDIA = 'https://media.retroachievements.org'

/** Opens a context that serves the fixtures after the given responses. */
function open (...responses: PlannedResponse[]) {
  return createPluginContext(provider, { config, responses: [...responses, ...loadResponses(FIXTURES)] })
}

/** Opens a context with one response for all requests. */
function openWith (response: Omit<PlannedResponse, 'url'>) {
  return createPluginContext(provider, { config, responses: [{ ...response, url: '*' }] })
}

function createGameBoyRom (rom: RomOverrides = {}): Rom {
  return createRom({ fs_name: 'Tide Runner (World).gb', ra_hash: HASH, ...rom, platform: { slug: 'gb', ids: [4] } })
}

const names = ({ requests }: ReturnType<typeof open>) =>
  requests.map(({ url }) => /API_(\w+)\.php/.exec(url)?.[1])

test('conforms', async (t) => {
  await testProvider(t, provider, {
    packageUrl: new URL('../package.json', import.meta.url),
    config,
    responses: FIXTURES,
    known: { rom: { fs_name: 'Tide Runner (World).gb', ra_hash: HASH, platform: { slug: 'gb' } }, id: 5001, name: 'Tide Runner' },
    unknown: { fs_name: 'Tide Runner 2 (World).gb', ra_hash: 'f'.repeat(32), platform: { slug: 'gb' } },
    account: ada
  })
})

test('a game is found by hash, whatever its name, with all fields', async (t) => {
  const match = await definition.identify?.(createGameBoyRom({ fs_name: 'another name.gb', ra_hash: HASH.toUpperCase() }), open())
  t.match(match, {
    id: 5001,
    name: 'Tide Runner',
    genres: ['2D Platforming'],
    companies: ['Quay Publishing', 'Harbor Works'],
    developers: ['Harbor Works'],
    publishers: ['Quay Publishing'],
    first_release_date: Date.UTC(1992, 3, 27)
  })
  t.same(match?.media, [
    { kind: 'cover', url: `${MEDIA}/Images/050004.png` },
    { kind: 'box2d', url: `${MEDIA}/Images/050004.png` },
    { kind: 'title_screen', url: `${MEDIA}/Images/050002.png` },
    { kind: 'screenshot', url: `${MEDIA}/Images/050003.png` },
    { kind: 'badge', url: `${MEDIA}/Badge/123456.png` },
    { kind: 'badge', url: `${MEDIA}/Badge/123456_lock.png` },
    { kind: 'badge', url: `${MEDIA}/Badge/123457.png` },
    { kind: 'badge', url: `${MEDIA}/Badge/123457_lock.png` }
  ])
  t.same(match?.metadata, {
    first_release_date: Date.UTC(1992, 3, 27) / 1000,
    genres: ['2D Platforming'],
    companies: ['Quay Publishing', 'Harbor Works'],
    achievements: [{
      ra_id: 7001,
      title: 'Low Water',
      description: 'Cross the bay',
      points: 5,
      num_awarded: 3000,
      num_awarded_hardcore: 1800,
      badge_id: '123456',
      badge_url: `${MEDIA}/Badge/123456.png`,
      badge_url_lock: `${MEDIA}/Badge/123456_lock.png`,
      display_order: 1,
      type: 'progression'
    }, {
      ra_id: 7002,
      title: '満潮',
      description: 'Finish the game',
      points: 10,
      num_awarded: 900,
      num_awarded_hardcore: 400,
      badge_id: '123457',
      badge_url: `${MEDIA}/Badge/123457.png`,
      badge_url_lock: `${MEDIA}/Badge/123457_lock.png`,
      display_order: 2,
      type: null
    }]
  })
})

test('a game is found by id; an unknown id returns an empty list', async (t) => {
  t.match(await definition.getById?.(5001, undefined, open()), { id: 5001 })
  t.equal(await definition.getById?.(404, undefined, open()), undefined)
})

test('names do not count: without a matching hash nothing is found', async (t) => {
  const ctx = open()
  for (const ra of [undefined, '', 'not a hash', 'f'.repeat(32)]) {
    t.equal(await definition.identify?.(createGameBoyRom({ ra_hash: ra }), ctx), undefined)
  }
  t.same(names(ctx), ['GetGameList'], 'only a hash is worth a request')
})

test('the list of a console is cached until it is too old', async (t) => {
  const ctx = open()
  const roms = [createGameBoyRom(), createGameBoyRom({ ra_hash: '1'.repeat(32) })]
  await Promise.all(roms.map(async (rom) => await definition.identify?.(rom, ctx)))
  const later = { ...ctx, memo: async <T> (_key: string, create: () => Promise<T>) => await create() }
  await definition.identify?.(createGameBoyRom(), later)
  t.equal(names(ctx).filter((name) => name === 'GetGameList').length, 1)
  await ctx.cache.delete('hashes of console 4')
  await definition.identify?.(createGameBoyRom(), later)
  t.equal(names(ctx).filter((name) => name === 'GetGameList').length, 2)
})

test('an empty list of games is not cached', async (t) => {
  const ctx = openWith({ json: [] })
  t.equal(await definition.identify?.(createGameBoyRom(), ctx), undefined)
  t.equal(await ctx.cache.get('hashes of console 4'), undefined)
})

test('placeholders are ignored, and the title screen replaces a missing box', async (t) => {
  const fields = {
    ImageIcon: '/Images/000001.png', ImageBoxArt: '/Images/000002.png', ImageTitle: '/Images/050002.png',
    ImageIngame: '/Images/000002.png'
  }
  t.same(toMatch({ id: 1, fields }).media, [
    { kind: 'cover', url: `${MEDIA}/Images/050002.png` }, { kind: 'title_screen', url: `${MEDIA}/Images/050002.png` }
  ])
  t.same(toMatch({ id: 1, fields: { ImageBoxArt: 'https://elsewhere.example/1.png', ImageTitle: '//elsewhere.example' } }).media, [])
})

test('a release date counts only to the stated granularity', async (t) => {
  const released = (text: unknown, granularity: unknown) =>
    toMatch({ id: 1, fields: { Released: text, ReleasedAtGranularity: granularity } }).first_release_date
  t.equal(released('1992-04-27', 'month'), Date.UTC(1992, 3))
  t.equal(released('1992-04-27', 'year'), Date.UTC(1992))
  t.equal(released('1992-04-27 00:00:00', null), Date.UTC(1992, 3, 27))
  t.equal(released('Jun 22, 1992', undefined), Date.UTC(1992, 5, 22))
  t.equal(released(null, 'day'), undefined)
  t.equal(released('soon', 'day'), undefined)
})

test('numbers may be text, and other types are ignored', async (t) => {
  const achievement = { ID: '7', BadgeName: 223456, Points: '25', NumAwarded: 1.5, DisplayOrder: null, Type: 'missable' }
  t.match(toMatch({ id: 1, fields: { Achievements: [achievement, null, 'x', { Title: 'without an id' }] } }).metadata?.achievements, [
    { ra_id: 7, badge_id: '223456', points: 25, num_awarded: null, num_awarded_hardcore: null, display_order: null, type: 'missable' }
  ])
  const Results = [{ GameID: '5001', MaxPossible: '2', NumAwarded: '0', HighestAwardKind: null }]
  const ctx = open({ url: '*/API_GetUserCompletionProgress.php', json: { Count: '1', Total: '1', Results } })
  t.match(await definition.progress?.read(ada, undefined, ctx), [{ id: 5001, max_possible: 2, num_awarded: 0, status: 'incomplete' }])
})

test('the heartbeat succeeds also between two achievements of the week', async (t) => {
  t.equal(await definition.heartbeat?.(openWith({ json: { Achievement: null, StartAt: null, TotalPlayers: 0 } })), true)
  t.equal(await definition.heartbeat?.(openWith({ json: {} })), false)
  t.equal(await definition.heartbeat?.(openWith({ json: [] })), false)
})

test('reading a game never fails, whatever it holds', async (t) => {
  fc.assert(fc.property(fc.dictionary(fc.constantFrom('Title', 'Genre', 'Released', 'ReleasedAtGranularity', 'ImageTitle',
    'ImageBoxArt', 'Publisher', 'Achievements'), fc.jsonValue()), (fields) => {
    const { media = [], metadata } = toMatch({ id: 1, fields })
    return metadata !== undefined && media.every(({ url }) => url.startsWith('https://'))
  }))
  t.pass()
})

test('a wrong key, a rate limit and a page in place of JSON are errors', async (t) => {
  const rom = createGameBoyRom()
  const refused = openWith({
    status: 401, json: { message: 'Unauthenticated.', errors: [{ status: 419, code: 'unauthorized', title: 'Unauthenticated.' }] }
  })
  await t.rejects(async () => await definition.identify?.(rom, refused), CredentialsRefusedError)
  await t.rejects(async () => await definition.identify?.(rom, openWith({ status: 429 })), RateLimitedError)
  const page = openWith({ text: '<html>Maintenance</html>' })
  await t.rejects(async () => await definition.identify?.(rom, page), ServiceDownError)
  const empty = openWith({ json: { success: false } })
  await t.rejects(async () => await definition.identify?.(rom, empty), ServiceDownError)
})

test('progress lists every game with its earned achievements', async (t) => {
  const ctx = open()
  t.same(await definition.progress?.read(ada, undefined, ctx), [
    {
      id: 5001,
      max_possible: 2,
      num_awarded: 2,
      num_awarded_hardcore: 1,
      most_recent_awarded_date: '2026-08-01T20:00:00+00:00',
      highest_award_kind: 'completed',
      earned_achievements: [
        { id: '123456', date: '2026-07-30 18:00:00', date_hardcore: '2026-07-30 18:00:00' },
        { id: '123457', date: '2026-08-01 20:00:00' }
      ],
      status: 'completed_100'
    },
    {
      id: 5003,
      max_possible: 12,
      num_awarded: 1,
      num_awarded_hardcore: 0,
      most_recent_awarded_date: '2026-07-01T20:00:00+00:00',
      highest_award_kind: null,
      earned_achievements: [{ id: '223456', date: '2026-07-01 20:00:00' }],
      status: 'incomplete'
    },
    {
      id: 5004,
      max_possible: 9,
      num_awarded: 0,
      num_awarded_hardcore: 0,
      most_recent_awarded_date: null,
      highest_award_kind: 'beaten-softcore',
      earned_achievements: [],
      status: 'finished'
    }
  ])
  t.same(names(ctx), ['GetUserCompletionProgress', 'GetGameInfoAndUserProgress', 'GetGameInfoAndUserProgress'])
})

test('an unchanged game causes no further request', async (t) => {
  const before = await definition.progress?.read(ada, undefined, open())
  const ctx = open()
  t.same(await definition.progress?.read(ada, before, ctx), before)
  t.same(names(ctx), ['GetUserCompletionProgress'])
  const changed = open()
  const old = before?.map((game) => game.id === 5001 ? { ...game, num_awarded: 1, earned_achievements: [] } : game)
  t.same(await definition.progress?.read(ada, old, changed), before)
  t.same(names(changed), ['GetUserCompletionProgress', 'GetGameInfoAndUserProgress'])
})

test('long lists are read page by page', async (t) => {
  const page = (from: number, count: number) => ({
    url: '*/API_GetUserCompletionProgress.php',
    query: { o: from },
    json: {
      Count: count,
      Total: 501,
      Results: Array.from({ length: count }, (_none, index) => ({ GameID: from + index + 1, NumAwarded: 0 }))
    }
  })
  const progress = await definition.progress?.read(ada, undefined, open(page(0, 500), page(500, 1)))
  t.equal(progress?.length, 501)
  t.equal(progress?.at(-1)?.id, 501)
})

test('an unknown user has no progress, and an invalid name is an error', async (t) => {
  t.same(await definition.progress?.read({ ra_username: 'nobody' }, undefined, open()), [])
  await t.rejects(async () => await definition.progress?.read({ ra_username: 'x' }, undefined, open()), InvalidSettingsError)
  await t.rejects(async () => await definition.progress?.read(ada, undefined, openWith({ text: '<html>' })), ServiceDownError)
})
