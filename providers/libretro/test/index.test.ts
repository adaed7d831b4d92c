import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { RateLimitedError } from '@svc/plugin-sdk'
import { createPluginContext, createRom, testProvider, type ContextOptions, type PlannedResponse } from '@svc/plugin-sdk/testing'
import provider from '../src/index.ts'
import { createListingIndex, findFile } from '../src/find.ts'
import { parseListing } from '../src/listing.ts'

const { definition } = provider
const SYSTEM = 'https://thumbnails.libretro.com/Nintendo%20-%20Game%20Boy'
const BOX_ART = readFixture('boxarts.html')
const SNAPS = readFixture('snaps.html')
const RESPONSES: PlannedResponse[] = [
  { method: 'HEAD', url: 'https://thumbnails.libretro.com/' },
  { method: 'GET', url: `${SYSTEM}/Named_Boxarts/`, query: { F: 2 }, text: BOX_ART },
  { method: 'GET', url: `${SYSTEM}/Named_Snaps/`, query: { F: 2 }, text: SNAPS },
  { method: 'GET', url: `${SYSTEM}/Named_Titles/`, query: { F: 2 }, status: 404 },
  { method: 'GET', url: `${SYSTEM}/Named_Logos/`, query: { F: 2 }, text: '' }
]
const COVER_ONLY = { media: ['box2d'] }

function readFixture (name: string): string {
  return readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
}

function createContext (options: ContextOptions) {
  return createPluginContext(provider, options)
}

function createGameBoyRom (fsName: string) {
  return createRom({ fs_name: fsName, platform: { slug: 'gb', ids: ['Nintendo - Game Boy'] } })
}

function sha1 (text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

function find (name: string, ...files: string[]): string | undefined {
  return findFile(name, createListingIndex(files))?.file
}

function findFor (regions: string[], name: string, ...files: string[]): string | undefined {
  return findFile(name, createListingIndex(files), regions)?.file
}

t.test('conforms', (t) => testProvider(t, provider, {
  packageUrl: new URL('../package.json', import.meta.url),
  responses: RESPONSES,
  known: { rom: { fs_name: 'Chrono Harbor (USA).gb', platform: { slug: 'gb' } }, id: sha1('Chrono Harbor (USA).png') }
}))

t.test('a ROM gets the box art of its name and an id from the file name', async (t) => {
  const ctx = createContext({ responses: RESPONSES, preferences: COVER_ONLY, t })
  t.same(await definition.identify?.(createGameBoyRom('chrono harbor (usa).gb'), ctx), {
    id: sha1('Chrono Harbor (USA).png'),
    score: 1,
    media: [{ kind: 'cover', url: `${SYSTEM}/Named_Boxarts/Chrono%20Harbor%20%28USA%29.png` }]
  })
  t.equal(ctx.requests.length, 1)
})

t.test('further pictures are requested if preferred, and a missing one is harmless', async (t) => {
  const ctx = createContext({
    responses: RESPONSES, preferences: { media: ['screenshot', 'title_screen', 'logo'] }, t
  })
  const match = await definition.identify?.(createGameBoyRom('Chrono Harbor (USA).gb'), ctx)
  t.same(match?.media, [
    { kind: 'cover', url: `${SYSTEM}/Named_Boxarts/Chrono%20Harbor%20%28USA%29.png` },
    { kind: 'screenshot', url: `${SYSTEM}/Named_Snaps/Chrono%20Harbor%20%28USA%29.png` }
  ])
  t.equal(ctx.requests.length, 4)
})

t.test('no box art means no match, whatever other pictures exist', async (t) => {
  const ctx = createContext({ responses: RESPONSES, t })
  t.equal(await definition.identify?.(createGameBoyRom('Only A Snap (USA).gb'), ctx), undefined)
})

t.test('a platform without a folder at libretro causes no request', async (t) => {
  const ctx = createContext({ t })
  t.equal(await definition.identify?.(createRom(), ctx), undefined)
  t.same(ctx.requests, [])
})

t.test('a search returns the box art of the name, or nothing', async (t) => {
  const ctx = createContext({ responses: RESPONSES, t })
  const { platform } = createGameBoyRom('any.gb')
  t.match(await definition.search?.({ term: 'Salt & Sail', platform }, ctx),
    [{ media: [{ kind: 'cover', url: `${SYSTEM}/Named_Boxarts/Salt%20_%20Sail%20%28World%29.png` }] }])
  t.same(await definition.search?.({ term: 'Utterly Different', platform }, ctx), [])
  t.equal(ctx.requests.length, 1)
})

t.test('an index page yields its pictures and no links to other places', (t) => {
  t.same(parseListing(BOX_ART), [
    'Chrono Harbor (Europe).png', 'Chrono Harbor (USA).png', 'Salt _ Sail (World).png',
    'What_ _Deep_ Edition (World).png', '...and Ever! (Japan).png', "Iron's Tide 2 (USA).jpg"
  ])
  t.end()
})

t.test('file names are encoded to the last special character', async (t) => {
  const ctx = createContext({ responses: RESPONSES, preferences: COVER_ONLY, t })
  t.match(await definition.identify?.(createGameBoyRom("Iron's Tide 2 (USA).gb"), ctx),
    { media: [{ url: `${SYSTEM}/Named_Boxarts/Iron%27s%20Tide%202%20%28USA%29.jpg` }] })
})

t.test('characters that libretro replaces are replaced', (t) => {
  t.equal(find('What? "Deep" Edition (World)', 'What_ _Deep_ Edition (World).png'), 'What_ _Deep_ Edition (World).png')
  t.equal(find('a&b*c/d:e`f<g>h?i\\j|k"l', 'a_b_c_d_e_f_g_h_i_j_k_l.png'), 'a_b_c_d_e_f_g_h_i_j_k_l.png')
  t.end()
})

t.test('the picture with most of the ROM\'s tags wins among equal titles', (t) => {
  const files = ['Harbor (Europe).png', 'Harbor (USA, Canada).png', 'Harbor (USA, Canada) (Rev 1).png']
  t.equal(find('Harbor (USA) (Rev 1)', ...files), 'Harbor (USA, Canada) (Rev 1).png')
  t.equal(find('Harbor (Canada)', ...files), 'Harbor (USA, Canada).png')
  t.equal(find('Harbor (Japan)', ...files), 'Harbor (Europe).png')
  t.end()
})

t.test('the preferred region decides for a name without one, then fewest tags', async (t) => {
  const files = ['Harbor (Europe) (Beta).png', 'Harbor (Europe).png', 'Harbor (Japan).png', 'Harbor (USA, Canada) (Demo).png', 'Harbor (USA, Canada).png']
  t.equal(findFor(['us', 'eu', 'jp'], 'Harbor', ...files), 'Harbor (USA, Canada).png')
  t.equal(findFor(['jp', 'us'], 'Harbor', ...files), 'Harbor (Japan).png')
  t.equal(findFor(['jp', 'us'], 'Harbor (Europe)', ...files), 'Harbor (Europe).png')
  t.equal(findFor([], 'Harbor', ...files), 'Harbor (Europe).png')
  const ctx = createContext({ responses: RESPONSES, preferences: { ...COVER_ONLY, regions: ['us', 'eu'] }, t })
  t.match(await definition.identify?.(createGameBoyRom('Chrono Harbor.gb'), ctx),
    { media: [{ url: `${SYSTEM}/Named_Boxarts/Chrono%20Harbor%20%28USA%29.png` }] })
})

t.test('square brackets count as tags, like round ones', (t) => {
  t.equal(find('Crash Harbor (USA) [SCUS-94900]', 'Crash Harbor (USA).png'), 'Crash Harbor (USA).png')
  t.equal(find('Harbor (Europe) [b2]', 'Harbor (USA).png', 'Harbor (Europe).png'), 'Harbor (Europe).png')
  t.equal(find('Harbor [b2]', 'Harbor 2 (USA).png'), undefined)
  t.end()
})

t.test('similar titles match; sequels and other titles do not', (t) => {
  t.equal(find('Chrono Harbour (USA)', 'Chrono Harbor (USA).png'), 'Chrono Harbor (USA).png')
  t.equal(find('Harbor, The (USA)', 'The Harbor (Europe).png'), 'The Harbor (Europe).png')
  t.equal(find("Iron's Tide 3 (USA)", "Iron's Tide 2 (USA).png"), undefined)
  t.equal(find('Salt', 'Zebra Crossing (USA).png'), undefined)
  t.equal(find('(USA)', 'Harbor (USA).png'), undefined)
  t.end()
})

t.test('a listing is fetched once per scan and cached for the next one', async (t) => {
  const first = createContext({ responses: RESPONSES, preferences: COVER_ONLY, t })
  const roms = ['Chrono Harbor (USA).gb', 'Chrono Harbor (Europe).gb', 'Salt & Sail (World).gb'].map(createGameBoyRom)
  const matches = await Promise.all(roms.map(async (rom) => await definition.identify?.(rom, first)))
  t.equal(matches.filter((match) => match !== undefined).length, 3)
  t.equal(first.requests.length, 1)

  const next = { ...createContext({ preferences: COVER_ONLY, t }), cache: first.cache }
  t.match(await definition.identify?.(createGameBoyRom('Chrono Harbor (USA).gb'), next), { score: 1 })
})

t.test('listings are cached for a day, missing ones for an hour', async (t) => {
  for (const [response, hours] of [[{ text: BOX_ART }, 24], [{ status: 404 }, 1], [{ status: 410 }, 1],
    [{ text: '<p>Maintenance</p>' }, 1]] as const) {
    const context = createContext({ responses: [{ url: '*', ...response }], preferences: COVER_ONLY, t })
    const kept: (number | undefined)[] = []
    const cache = { ...context.cache, set: async (_key: string, _value: unknown, ms?: number) => { kept.push(ms) } }
    await definition.identify?.(createGameBoyRom('Chrono Harbor (USA).gb'), { ...context, cache })
    t.same(kept, [hours * 60 * 60 * 1000])
    t.same(context.logs, [])
  }
})

t.test('a failed listing of box art throws an error', async (t) => {
  for (const failure of [{ status: 403 }, { status: 408 }, { status: 429 }, { status: 500 }, { status: 503 },
    { error: 'connection' }, { error: 'timeout' }] as const) {
    const ctx = createContext({
      responses: [{ url: `${SYSTEM}/*`, times: 1, ...failure }, ...RESPONSES], preferences: COVER_ONLY, t
    })
    await t.rejects(async () => await definition.identify?.(createGameBoyRom('Chrono Harbor (USA).gb'), ctx))
    t.match(await definition.identify?.(createGameBoyRom('Chrono Harbor (USA).gb'), ctx), { score: 1 }, 'nothing of it is kept')
  }
})

t.test('a failed listing of other pictures costs only those pictures', async (t) => {
  const ctx = createContext({
    responses: [{ url: `${SYSTEM}/Named_Snaps/*`, times: 1, status: 500 }, ...RESPONSES],
    preferences: { ...COVER_ONLY, media: ['screenshot'] },
    t
  })
  t.match(await definition.identify?.(createGameBoyRom('Chrono Harbor (USA).gb'), ctx), { score: 1 })
  t.match(ctx.logs, [{ level: 'warn', fields: { system: 'Nintendo - Game Boy', folder: 'Named_Snaps' } }])
})

t.test('a rate limit repeats the whole lookup', async (t) => {
  const ctx = createContext({
    responses: [{ url: `${SYSTEM}/Named_Snaps/*`, times: 1, status: 429 }, ...RESPONSES],
    preferences: { ...COVER_ONLY, media: ['screenshot'] },
    t
  })
  await t.rejects(async () => await definition.identify?.(createGameBoyRom('Chrono Harbor (USA).gb'), ctx), RateLimitedError)
})

t.test('an invalid cached listing is fetched again', async (t) => {
  const ctx = createContext({ responses: RESPONSES, preferences: COVER_ONLY, t })
  await ctx.cache.set('Nintendo - Game Boy/Named_Boxarts', [7])
  t.match(await definition.identify?.(createGameBoyRom('Chrono Harbor (USA).gb'), ctx), { score: 1 })
})

t.test('the heartbeat succeeds below status 500', async (t) => {
  const ask = (answer: Partial<PlannedResponse>) =>
    definition.heartbeat?.(createContext({ responses: [{ method: 'HEAD', url: '*', ...answer }], t }))
  for (const status of [200, 403, 404, 429]) t.equal(await ask({ status }), true, String(status))
  t.equal(await ask({ status: 500 }), false)
  t.equal(await ask({ error: 'connection' }), false)
})

t.test('any page yields only file names of pictures', (t) => {
  const piece = fc.constantFrom('<a ', 'href="', '"', "'", '>', '../', '%2e%2e%2f', 'x.png', '?', '#', '%', '\\', '&amp;', 'a')
  fc.assert(fc.property(fc.array(piece, { maxLength: 40 }), (pieces) =>
    parseListing(pieces.join('')).every((file) => /^[^/\\]+\.png$/.test(file))))
  t.end()
})

t.test('a page with unclosed links is parsed in linear time', (t) => {
  const start = performance.now()
  t.same(parseListing('<a href '.repeat(500_000)), [])
  t.same(parseListing(`<a ${'href="'.repeat(500_000)}`), [])
  t.ok(performance.now() - start < 60_000)
  t.end()
})
