import { type ArchiveMember, HttpStatusError, MatchSchema, RateLimitedError, type Rom, type RomFile, ServiceDownError }
  from '@svc/plugin-sdk'
import { Value } from '@sinclair/typebox/value'
import { type PlannedResponse, createPluginContext, createRom, loadResponses, testProvider } from '@svc/plugin-sdk/testing'
import fc from 'fast-check'
import { test } from 'tap'
import provider from '../src/index.ts'
import { listLookupItems } from '../src/hashes.ts'
import { toIgdbFields } from '../src/igdb.ts'
import { toMatch } from '../src/map.ts'
import { MetadataSchema } from '../src/metadata.ts'

const { definition } = provider
const BASE_URL = 'https://hasheous.org/api/v1'
const FIXTURES = new URL('./fixtures', import.meta.url)
const NO_HASHES = { md5_hash: undefined, sha1_hash: undefined, crc_hash: undefined }
const HASHES = {
  md5_hash: '0f343b0931126a20f133d67c2b018a3b',
  sha1_hash: '4b8c5e1a0d3f27960c1e55a9d0b7f6c2a1e3d4f5',
  crc_hash: '9a1b2c3d'
}
const ROM = createSnesRom([{}])
const LOOKUP = readAnswer('/Lookup/ByHash')
const IGDB_GAME = readAnswer('/MetadataProxy/IGDB/Game')

function readAnswer (path: string): object {
  const planned = loadResponses(FIXTURES).find(({ url }) => url === BASE_URL + path)
  return Object(planned?.json) as object
}

/** Opens a context that serves the fixtures after the given responses. */
function open (config: { baseUrl?: string, clientApiKey?: string } = {}, responses: PlannedResponse[] = []) {
  return createPluginContext(provider, {
    config: { enabled: true, ...config }, responses: [...responses, ...loadResponses(FIXTURES)]
  })
}

/** Opens a context with one response for all requests. */
function openWith (response: Omit<PlannedResponse, 'url'>) {
  return createPluginContext(provider, { config: { enabled: true }, responses: [{ ...response, url: '*' }] })
}

function createSnesRom (files: Partial<RomFile>[], slug = 'snes'): Rom {
  return createRom({ ...HASHES, platform: { slug, ids: [74] }, files })
}

function createMember (size: number, crc: string): ArchiveMember {
  return { ...NO_HASHES, name: `${size}.bin`, size, crc_hash: crc }
}

for (const clientApiKey of [undefined, 'app-key']) {
  test(`conforms ${clientApiKey === undefined ? 'without' : 'with'} an application key`, async (t) => {
    await testProvider(t, provider, {
      packageUrl: new URL('../package.json', import.meta.url),
      config: { enabled: true, clientApiKey },
      responses: FIXTURES,
      known: { rom: HASHES, id: 51873, name: 'Chrono Harbor' }
    })
  })
}

test('a file matches by its hashes and carries its ids at other providers', async (t) => {
  const ctx = open()
  t.same(await definition.identify?.(ROM, ctx), {
    id: 51873,
    name: 'Chrono Harbor',
    ids: { igdb: 4711, ra: 319, tgdb: 2406 },
    media: [
      { kind: 'cover', url: 'https://hasheous.org/api/v1/images/c0ffee' },
      { kind: 'logo', url: 'https://hasheous.org/api/v1/images/c0ffee' }
    ],
    metadata: {
      tosec_match: false,
      mame_arcade_match: false,
      mame_mess_match: false,
      nointro_match: true,
      redump_match: false,
      mame_redump_match: false,
      whdload_match: false,
      ra_match: true,
      fbneo_match: false,
      puredos_match: false
    }
  })
  t.equal(ctx.requests.length, 1, 'the IGDB record is not asked for without an application key')
  t.notOk('x-client-api-key' in (ctx.requests[0]?.headers ?? {}))
})

test('a 404 means an unknown game; any other refusal is an error', async (t) => {
  t.equal(await definition.identify?.(ROM, openWith({ status: 404 })), undefined)
  await t.rejects(async () => await definition.identify?.(ROM, openWith({ status: 400 })), HttpStatusError)
})

test('an unusable response is an outage, which preserves a known id', async (t) => {
  for (const json of [null, [], 'ok', {}, { id: 0, name: 'x' }, { id: '12', name: 'x' }]) {
    await t.rejects(async () => await definition.identify?.(ROM, openWith({ json })), ServiceDownError)
  }
})

test('a ROM without hashes causes no request', async (t) => {
  const ctx = open()
  t.equal(await definition.identify?.(createSnesRom([NO_HASHES]), ctx), undefined)
  t.equal(await definition.identify?.(createSnesRom([]), ctx), undefined)
  t.equal(ctx.requests.length, 0)
})

test('only top-level files with contents are looked up', async (t) => {
  const unhashed = { md5_hash: undefined, sha1_hash: undefined }
  const rom = createSnesRom([{ is_top_level: false }, { file_size_bytes: 0 }, unhashed])
  t.same(listLookupItems(rom), [{ crc: HASHES.crc_hash }])
})

test('a CHD is looked up only by the SHA-1 of its contents', async (t) => {
  t.same(listLookupItems(createSnesRom([{ chd_sha1_hash: 'a'.repeat(40) }])), [{ shA1: 'a'.repeat(40) }])
})

test('an archive is looked up by its largest member', async (t) => {
  const members = [createMember(10, '00000010'), createMember(300, '00000300'), createMember(20, '00000020')]
  t.same(listLookupItems(createSnesRom([{ archive_members: members }])), [{ crc: '00000300' }])
  t.same(listLookupItems(createSnesRom([{ archive_members: [] }]))[0]?.crc, HASHES.crc_hash)
})

test('only bin, chd and cue files of a Dreamcast disc are looked up', async (t) => {
  const files = ['disc.gdi', 'track01.BIN', 'track02.raw', 'disc.cue', 'disc.chd']
    .map((name, index) => ({ ...NO_HASHES, file_name: name, crc_hash: String(index).padStart(8, '0') }))
  t.same(listLookupItems(createSnesRom(files, 'dc')).map(({ crc }) => crc), ['00000001', '00000003', '00000004'])
  t.equal(listLookupItems(createSnesRom(files, 'saturn')).length, 5)
})

test('at most fifty files are looked up at once', async (t) => {
  t.equal(listLookupItems(createSnesRom(Array.from({ length: 80 }, () => ({})))).length, 50)
})

test('names of providers are compared without case', async (t) => {
  const game = {
    id: 1,
    signatures: { NOINTROS: [], mameRedump: [], PureDOSDAT: [] },
    metadata: [
      { source: 'TheGamesDB', immutableId: '5' }, { source: 'igdb', immutableId: 'old-slug' },
      { source: 'Igdb', immutableId: 9 }, { source: 'IGDB', immutableId: '10' }
    ]
  }
  const match = toMatch(game, undefined, BASE_URL)
  t.same(match.ids, { tgdb: 5, igdb: 9 })
  t.match(match.metadata, { nointro_match: true, mame_redump_match: true, puredos_match: true, redump_match: false })
})

test('ids at known providers are passed on, others are dropped', async (t) => {
  const sources = ['IGDB', 'TheGamesDb', 'RetroAchievements', 'ScreenScraper', 'LaunchBox', 'MobyGames', 'SteamGridDb', 'Steam', 'GiantBomb']
  const metadata = sources.map((source, index) => ({ objectType: 'Game', id: `${index + 1}`, immutableId: `${index + 1}`, status: 'Mapped', source }))
  const { ids } = toMatch({ id: 1, metadata }, undefined, BASE_URL)
  t.same(ids, { igdb: 1, tgdb: 2, ra: 3, ss: 4, launchbox: 5, moby: 6, sgdb: 7, steam: 8 })
  t.same(Object.keys(ids ?? {}).filter((key) => !definition.order?.links?.includes(key)), [])
  const unmapped = sources.map((source) => ({ source, id: '', immutableId: '', status: 'NotMapped', matchMethod: 'NoMatch' }))
  t.same(toMatch({ id: 1, metadata: unmapped }, undefined, BASE_URL).ids, {})
})

test('with an application key IGDB\'s record fills fields and pictures', async (t) => {
  const ctx = open({ clientApiKey: 'app-key' })
  t.match(await definition.identify?.(ROM, ctx), {
    id: 51873,
    name: 'Chrono Harbor',
    slug: 'chrono-harbor',
    summary: /chain of islands/,
    first_release_date: Date.UTC(1995, 2, 11),
    average_rating: 81.4,
    genres: ['Role-playing (RPG)'],
    franchises: ['Chrono'],
    companies: ['Harbor Works', 'Quay Publishing'],
    developers: ['Harbor Works'],
    publishers: ['Quay Publishing'],
    age_ratings: ['M'],
    min_age: 17,
    youtube_video_id: 'AbCdEfGhIjK',
    media: [
      { kind: 'cover', url: 'https://images.igdb.com/igdb/image/upload/t_1080p/coharb1.jpg' },
      { kind: 'screenshot', url: 'https://images.igdb.com/igdb/image/upload/t_720p/scharb1.jpg' },
      { kind: 'cover', url: 'https://hasheous.org/api/v1/images/c0ffee' },
      { kind: 'logo' }
    ]
  })
  t.match(ctx.requests.map(({ headers }) => headers['x-client-api-key']), ['app-key', 'app-key'])
  t.match(new URL(ctx.requests[1]?.url ?? '').searchParams.get('expandColumns'), /^age_ratings, .*, videos$/)
})

test('the strictest of all age ratings counts, in any notation', async (t) => {
  const ageOf = (ratings: unknown) => toIgdbFields({ age_ratings: ratings }).min_age
  t.equal(ageOf([{ rating_category: 3 }, { rating_category: { id: 11, rating: '16' } }, { rating_category: 5 }]), 16)
  t.equal(ageOf([{ organization: { id: 3, name: 'CERO' }, rating_category: { rating: 'Z' } }]), 18)
  t.equal(ageOf({ 4: { organization: 5, rating_category: { rating: '15+' } } }), 15)
  t.equal(ageOf([{ rating_category: 1 }]), undefined, 'pending')
  t.equal(ageOf([{ rating_category: { rating: '12' } }, { organization: 99 }, 7, {}]), undefined)
})

test('a match by hash survives a proxy that refuses, fails or finds nothing', async (t) => {
  for (const answer of [{ status: 401 }, { status: 404 }, { json: [] }, { error: 'timeout' as const }]) {
    const ctx = open({ clientApiKey: 'app-key' }, [{ url: `${BASE_URL}/MetadataProxy/*`, ...answer }])
    t.match(await definition.identify?.(ROM, ctx), { id: 51873, slug: undefined, ids: { igdb: 4711 } })
  }
})

test('a rate limit of the proxy repeats the whole lookup', async (t) => {
  const ctx = open({ clientApiKey: 'app-key' }, [{ url: `${BASE_URL}/MetadataProxy/*`, status: 429 }])
  await t.rejects(async () => await definition.identify?.(ROM, ctx), RateLimitedError)
})

test('a refusing proxy is logged once per scan', async (t) => {
  const ctx = open({ clientApiKey: 'app-key' }, [{ url: `${BASE_URL}/MetadataProxy/*`, status: 401 }])
  await definition.identify?.(ROM, ctx)
  await definition.identify?.(ROM, ctx)
  t.match(ctx.logs, [{ level: 'warn', message: /^no IGDB data/ }])
  t.equal(ctx.logs.length, 1)
})

test('a cancelled call is not treated as a broken proxy', async (t) => {
  const controller = new AbortController()
  const ctx = createPluginContext(provider, {
    config: { enabled: true, clientApiKey: 'app-key' },
    signal: controller.signal,
    intercept ({ url }) {
      if (url.includes('/MetadataProxy/')) controller.abort(new Error('cancelled'))
      return { url: '*', json: LOOKUP }
    }
  })
  await t.rejects(async () => await definition.identify?.(ROM, ctx), { message: 'cancelled' })
})

test('dates without an offset are UTC, and a date type\'s zero is no date', async (t) => {
  const released = (date: unknown) =>
    toMatch({ id: 1 }, { first_release_date: date }, BASE_URL).first_release_date
  t.equal(released('1995-03-11T00:00:00'), Date.UTC(1995, 2, 11))
  t.equal(released('1995-03-11T02:00:00+02:00'), Date.UTC(1995, 2, 11))
  t.equal(released('1995-03-11'), Date.UTC(1995, 2, 11))
  t.equal(released('0001-01-01T00:00:00'), undefined)
  t.equal(released('soon'), undefined)
})

test('a configured server gets the requests and serves its own pictures', async (t) => {
  const ctx = open({ baseUrl: 'http://nas:5198/api/v1/' }, [{ url: 'http://nas:5198/api/v1/Lookup/ByHash', json: LOOKUP }])
  const match = await definition.identify?.(ROM, ctx)
  t.match(match?.media?.[0], { url: 'http://nas:5198/api/v1/images/c0ffee' })
})

test('a logo without a link or with an unsafe link is ignored', async (t) => {
  const media = (link: unknown) =>
    toMatch({ id: 1, attributes: [{ attributeName: 'Logo', link }] }, undefined, BASE_URL).media?.length
  t.equal(media('/api/v1/images/1'), 2)
  t.equal(media(undefined), 0)
  t.equal(media('http://elsewhere.example/logo.png'), 0)
  t.equal(media('file:///etc/passwd'), 0)
  const logos = [{ attributeName: 'Logo', link: '' }, { attributeName: 'Logo', link: '/api/v1/images/2' }]
  t.match(toMatch({ id: 1, attributes: logos }, undefined, BASE_URL).media, [{ url: /\/images\/2$/ }, {}], 'the next one is')
})

test('any response of Hasheous yields valid matches', async (t) => {
  const entry = fc.record({
    name: fc.anything(),
    source: fc.constantFrom('IGDB', 'TheGamesDb', 'x'),
    immutableId: fc.anything(),
    attributeName: fc.constant('Logo'),
    link: fc.oneof(fc.webUrl(), fc.string()),
    url: fc.string(),
    company: fc.anything()
  }, { requiredKeys: [] })
  const value = fc.oneof(fc.jsonValue(), fc.array(entry), fc.dictionary(fc.string(), entry))
  const record = (json: object) => fc.record(Object.fromEntries(Object.keys(json).map((key) => [key, value])))
  fc.assert(fc.property(record(LOOKUP), record(IGDB_GAME), (game, igdbGame) => {
    const match = toMatch({ ...game, id: 7 }, igdbGame, BASE_URL)
    return Value.Check(MatchSchema, match) && Value.Check(MetadataSchema, match.metadata)
  }))
  t.pass('random answers gave valid matches')
})

test('the heartbeat succeeds when the health check does', async (t) => {
  const ctx = open()
  t.equal(await definition.heartbeat?.(ctx), true)
  t.equal(ctx.requests[0]?.url, `${BASE_URL}/HealthCheck`)
})

test('a failed health check throws its error', async (t) => {
  await t.rejects(Promise.resolve(definition.heartbeat?.(openWith({ status: 503 }))), ServiceDownError)
  await t.rejects(Promise.resolve(definition.heartbeat?.(openWith({ status: 404 }))), HttpStatusError)
  await t.rejects(Promise.resolve(definition.heartbeat?.(openWith({ error: 'timeout' }))), ServiceDownError)
})

test('platforms have the ids of Hasheous\' catalogue', async (t) => {
  t.equal(definition.platforms?.snes, 74)
  t.notOk('scummvm' in (definition.platforms ?? {}))
})
