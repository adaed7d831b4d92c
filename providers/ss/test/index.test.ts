import {
  CredentialsRefusedError, HttpStatusError, type Preferences, RateLimitedError, type Rom, ServiceDownError
} from '@svc/plugin-sdk'
import {
  type PlannedResponse, type RomOverrides, createPluginContext, createRom, loadResponses, testProvider
} from '@svc/plugin-sdk/testing'
import fc from 'fast-check'
import { test } from 'tap'
import provider from '../src/index.ts'
import { toMatch } from '../src/map.ts'
import { createViewpoint } from '../src/regions.ts'

const { definition } = provider
const FIXTURES = new URL('./fixtures', import.meta.url)
const SHA1 = '4b8c5e1a0d3f27960c1e55a9d0b7f6c2a1e3d4f5'
const API = 'https://api.screenscraper.fr/api2'
const config = { user: 'member-one', password: 'member-secret', devId: 'dev-one', devPassword: 'dev-secret' }
const SECRETS = /member-one|member-secret|dev-one|dev-secret/
const VIEWPOINT = createViewpoint(undefined, { regions: ['us'], languages: ['en'], media: [] })

interface Options { responses?: PlannedResponse[], preferences?: Partial<Preferences> }

/** Opens a context that serves the fixtures after the given responses. */
function open ({ responses = [], preferences = {} }: Options = {}) {
  return createPluginContext(provider, { config, preferences, responses: [...responses, ...loadResponses(FIXTURES)] })
}

/** Opens a context with one response for all lookups. */
function openWith (response: Omit<PlannedResponse, 'url'>) {
  return open({ responses: [{ ...response, url: `${API}/jeu*` }] })
}

function createGenesisRom (rom: RomOverrides = {}): Rom {
  return createRom({ fs_name: 'Tide Runner (USA).md', ...rom, platform: { slug: 'genesis', ids: [1], ...rom.platform } })
}
const known = createGenesisRom({ sha1_hash: SHA1 })

/** Lists the script and parameters of every lookup, without the credentials. */
function lookups ({ requests }: ReturnType<typeof open>) {
  return requests.map(({ url }) => new URL(url)).filter(({ pathname }) => pathname.includes('/jeu')).map(({ pathname, searchParams }) =>
    [pathname.split('/').at(-1), Object.fromEntries([...searchParams].slice(6))])
}

const identify = async (rom: Rom, ctx = open()) => await definition.identify?.(rom, ctx)

test('conforms', async (t) => {
  await testProvider(t, provider, {
    packageUrl: new URL('../package.json', import.meta.url),
    config,
    responses: FIXTURES,
    known: {
      rom: { fs_name: 'Tide Runner (USA).md', sha1_hash: SHA1, platform: { slug: 'genesis' } }, id: 3, name: 'Tide Runner: Low Water'
    }
  })
})

test('a game is found by the hashes of its file, with all fields', async (t) => {
  const ctx = open()
  const match = await identify(known, ctx)
  t.match(match, {
    id: 3,
    score: undefined,
    name: 'Tide Runner: Low Water',
    summary: 'Run with the tide.\nThe "low" one.',
    alternative_names: ['Tide Runner: Low Water', 'タイドランナー', 'Tide "Runner"'],
    companies: ['Quay Publishing', 'Harbor Works'],
    developers: ['Harbor Works'],
    publishers: ['Quay Publishing'],
    franchises: ['Marées'],
    game_modes: ['Single-player'],
    genres: ['Platform'],
    age_ratings: ['7', 'KA', '3'],
    min_age: 7,
    player_count: '1-2',
    first_release_date: Date.UTC(1992, 10, 24),
    average_rating: 85,
    metadata: {
      ss_score: '8.5',
      first_release_date: Date.UTC(1992, 10, 24) / 1000,
      age_ratings: [{ rating: '7', category: 'PEGI' }, { rating: 'KA', category: 'ESRB' }, { rating: '3', category: 'SS' }],
      player_count: '1-2'
    }
  })
  t.same(lookups(ctx), [['jeuInfos.php', {
    sha1: SHA1, systemeid: '1', romtype: 'rom', romnom: 'Tide Runner (USA).md', romtaille: '1024'
  }]])
})

test('all sixteen kinds of artwork are listed without credentials', async (t) => {
  const match = await identify(known)
  const parts = match?.media?.map(({ kind, url }) => [kind, new URL(url).searchParams.get('media'), new URL(url).pathname])
  const picture = '/api2/mediaJeu.php'
  const film = '/api2/mediaVideoJeu.php'
  t.same(parts, [
    ['cover', 'box-2D(us)', picture], ['box2d', 'box-2D(us)', picture], ['box2d_back', 'box-2D-back(us)', picture],
    ['box2d_side', 'box-2D-side(us)', picture], ['box3d', 'box-3D(us)', picture], ['bezel', 'bezel-16-9(wor)', picture],
    ['fanart', 'fanart', picture], ['logo', 'wheel-hd(us)', picture], ['marquee', 'screenmarquee(us)', picture],
    ['miximage', 'mixrbv1(us)', picture], ['miximage_v2', 'mixrbv2(us)', picture], ['physical', 'support-2D(us)', picture],
    ['screenshot', 'ss(wor)', picture], ['title_screen', 'sstitle(wor)', picture],
    ['manual', 'manuel(us)', '/api2/mediaManuelJeu.php'], ['video', 'video', film], ['video_normalized', 'video-normalized', film]
  ])
  const { metadata = {} } = match ?? {}
  t.equal(Object.entries(metadata).filter(([name, value]) => name.endsWith('_url') && value !== null).length, 18)
  t.notMatch(JSON.stringify(match), SECRETS)
  t.match(metadata, { fullbox_url: /box-texture/, steamgrid_url: /steamgrid/ })
})

test('artwork is fetched with credentials, only from the service itself', async (t) => {
  const ctx = open()
  const [cover] = (await identify(known, ctx))?.media ?? []
  if (cover === undefined) throw new Error('there is a cover')
  t.match(await definition.media?.fetch(cover, ctx), {
    url: cover.url, query: { devid: 'dev-one', devpassword: 'dev-secret', softname: 'svc', ssid: 'member-one', sspassword: 'member-secret' }
  })
  for (const url of ['https://elsewhere.example/1.png', 'https://screenscraper.fr.example/1.png', 'https://x@screenscraper.fr/1.png']) {
    t.same(await definition.media?.fetch({ kind: 'cover', url }, ctx), { url })
    t.same(toMatch({ id: 1, fields: { medias: [{ type: 'ss', url }] } }, VIEWPOINT).media, [])
  }
})

test('a green square is a placeholder', async (t) => {
  const square = (green: number) => Uint8Array.from({ length: 32 * 32 * 3 }, (_none, index) =>
    index / 3 < green ? [10, 240, 20][index % 3] ?? 0 : 128)
  const accepts = async (pixels: Uint8Array | undefined) => await definition.media?.accept?.({ kind: 'cover', url: 'https://x' },
    { content_type: 'image/png', size: 1, sha1_hash: '', pixels }, open())
  t.equal(await accepts(square(1024)), false)
  t.equal(await accepts(square(922)), false)
  t.equal(await accepts(square(900)), true)
  t.equal(await accepts(undefined), true, 'a film has none')
})

test('names, dates and artwork follow the ROM\'s region, then the preferences', async (t) => {
  const japanese = { sha1_hash: SHA1, region_codes: ['jp'] }
  const ownFirst = await identify(createGenesisRom(japanese), open({ preferences: { regions: ['jp', 'us', 'wor'] } }))
  t.match(ownFirst, { name: 'タイドランナー', first_release_date: Date.UTC(1991, 4) })
  t.match(ownFirst?.metadata, { box2d_url: /jp/, box2d_back_url: /us/ })
  const ownerFirst = await identify(createGenesisRom(japanese), open({ preferences: { regions: ['us', 'wor'] } }))
  t.match(ownerFirst, { name: 'タイドランナー', first_release_date: Date.UTC(1991, 4) })
  t.match(ownerFirst?.metadata, { box2d_url: /us/ })
  t.match(await identify(known, open({ preferences: { regions: ['eu'] } })),
    { name: 'Tide "Runner"', first_release_date: Date.UTC(1992, 10, 24) }, 'a date that is none is passed over')
})

test('a region without a text uses its parent\'s text', async (t) => {
  const noms = [{ region: 'us', text: 'Of America' }, { region: 'eu', text: 'Of Europe' }, { region: 'asi', text: 'Of Asia' }]
  const medias = noms.map(({ region }) => ({ type: 'ss', parent: 'jeu', region, url: `https://api.screenscraper.fr/${region}` }))
  const found = (own: string[], regions: string[]) => {
    const match = toMatch({ id: 1, fields: { noms, medias } }, createViewpoint({ region_codes: own }, { regions, languages: ['en'], media: [] }))
    return [match.name, match.media?.find(({ kind }) => kind === 'screenshot')?.url]
  }
  const picture = (region: string) => `https://api.screenscraper.fr/${region}`
  t.same(found(['de'], ['de', 'us', 'wor']), ['Of Europe', picture('eu')])
  t.same(found(['ru'], []), ['Of America', picture('us')], 'Russia has no parent there')
  t.same(found(['kr'], ['us', 'wor']), ['Of Asia', picture('us')], 'pictures are those that the owner prefers')
  t.same(found([], ['fr', 'us', 'eu']), ['Of America', picture('us')], 'a region that is wanted keeps its place')
})

test('the summary is in a preferred language or absent', async (t) => {
  const summary = async (languages: string[]) => (await identify(known, open({ preferences: { languages } })))?.summary
  t.equal(await summary(['fr', 'en']), 'Courez avec la marée.')
  t.equal(await summary(['de']), undefined)
  t.match(await summary([]), /^Run with/)
})

test('an archive is looked up by its only file, a disc by its image', async (t) => {
  const member = { name: 'folder/Tide Runner.bin', size: 700, crc_hash: '0f1e2d3c', md5_hash: 'short' }
  const folder = { name: 'folder/', size: 0 }
  const file = { file_name: 'Tide Runner.zip', crc_hash: 'ffffffff', archive_members: [folder, member] }
  const zip = open()
  await identify(createGenesisRom({ files: [file] }), zip)
  t.match(lookups(zip)[0], ['jeuInfos.php', { crc: '0f1e2d3c', md5: undefined, romtype: 'iso', romnom: 'Tide Runner.bin', romtaille: '700' }])
  const disc = open()
  await identify(createGenesisRom({
    platform: { slug: 'dc', ids: [23] },
    files: [
      { file_name: 'Tide Runner.bin', file_size_bytes: 9000, sha1_hash: 'a'.repeat(40) },
      { file_name: 'Tide Runner.gdi', file_size_bytes: 90, sha1_hash: 'b'.repeat(40) },
      { file_name: 'more.cue', file_size_bytes: 900, is_top_level: false }
    ]
  }), disc)
  t.match(lookups(disc)[0], ['jeuInfos.php', { sha1: 'b'.repeat(40), romtype: 'iso', romnom: 'Tide Runner.gdi' }])
})

test('a disc is also looked up by the serial in its file name', async (t) => {
  const ctx = open()
  await identify(createGenesisRom({ fs_name: 'Tide Runner [SLUS-00001].iso', serial: 'SLUS-00001' }), ctx)
  await identify(createGenesisRom({ fs_name: 'Tide Runner [SLUS-00001].md', serial: 'SLUS-00001' }), ctx)
  const asked = lookups(ctx).filter(([script]) => script === 'jeuInfos.php')
  t.match(asked, [['jeuInfos.php', { serialnum: 'SLUS-00001', romtype: 'iso' }], ['jeuInfos.php', { serialnum: undefined, romtype: 'rom' }]])
})

test('facts about this dump are stored, and none about other dumps', async (t) => {
  const roms = [
    { id: '73', hack: '1', regions: { regions_en: ['Japan'] } },
    { id: '74', beta: '1', alt: 1, best: '1', proto: '0', regions: { regions_en: ['Europe', 7, 'USA'] }, langues: { langues_en: ['English'] } }
  ]
  const found = (fields: object) => toMatch({ id: 3, fields: { ...fields } }, VIEWPOINT)
  t.match(found({ romid: '74', roms }), {
    regions: ['Europe', 'USA'],
    languages: ['English'],
    metadata: { dump_regions: ['Europe', 'USA'], dump_languages: ['English'], dump_tags: ['beta', 'alt'] }
  })
  t.match(found({ rom: roms[0] }), { regions: ['Japan'], languages: undefined, metadata: { dump_tags: ['hack'] } })
  for (const fields of [{ romid: '', roms }, { roms }, { romid: '74', roms: 'none' }, { romid: '74', roms: [{ id: '74', regions: [] }] }]) {
    t.match(found(fields), { regions: undefined, metadata: { dump_regions: undefined, dump_tags: undefined } })
  }
})

test('the timeout of artwork depends on the account\'s speed', async (t) => {
  const cover = { kind: 'cover', url: 'https://neoclone.screenscraper.fr/api2/mediaJeu.php?jeuid=3' } as const
  for (const [maxdownloadspeed, timeoutMs] of [[undefined, 600_000], ['unknown', 600_000], ['128', 524_288], ['64', 600_000], [4096, 120_000]] as const) {
    const ctx = open({ responses: [{ url: `${API}/ssuserInfos.php`, json: { response: { ssuser: { maxdownloadspeed } } } }] })
    await identify(known, ctx)
    t.match(await definition.media?.fetch(cover, ctx), { timeoutMs }, String(maxdownloadspeed))
  }
})

test('an unknown file is searched by name: no hack, no sequel, the oldest wins', async (t) => {
  const ctx = open()
  t.match(await identify(createGenesisRom({ sha1_hash: 'f'.repeat(40) }), ctx), { id: 20, score: 1, name: 'Tide Runner' })
  t.match(lookups(ctx).at(-1), ['jeuRecherche.php', { recherche: 'tide runner', systemeid: '1' }])
  const match = await identify(createGenesisRom())
  t.match(match?.media, [{ kind: 'cover', url: /jeuid=20/ }, { kind: 'box2d' }], 'pictograms are no artwork')
  t.equal(match?.media?.length, 2)
})

test('a title in another script is searched unchanged and found', async (t) => {
  t.match(await identify(createGenesisRom({ fs_name: '潮の走者 (Japan).md' })), { id: 24, name: '潮の走者' })
  const ctx = open()
  for (const title of ['タイドランナー', '바다', 'Йога', 'Pokémon - Rubí', 'Spider-Man: Web']) await identify(createGenesisRom({ titles: [title] }), ctx)
  const terms = lookups(ctx).flatMap(([, query]) => (query as { recherche?: string }).recherche ?? [])
  t.same(terms, ['タイドランナー', '바다', 'Йога', 'pokemon - rubi', 'rubi', 'spider-man - web', 'web'])
})

test('a sub-system\'s game matches, after an equal name on the system itself', async (t) => {
  const jeux = [
    { id: '5', systeme: { id: '203' }, noms: [{ region: 'ss', text: 'Tide Heroes' }] },
    { id: '6', systeme: { id: '203' }, noms: [{ region: 'ss', text: 'Tide Runner' }] },
    { id: '7', systeme: { id: '1' }, noms: [{ region: 'ss', text: 'Low Tide' }, { region: 'jp', text: 'Tide Runner' }] },
    { id: '8', systeme: { id: '1' }, noms: [{ region: 'ss', text: 'Tide Heroics' }] }
  ]
  const responses = [{ url: `${API}/jeuRecherche.php`, json: { response: { jeux } } }]
  t.match(await identify(createGenesisRom({ fs_name: 'Tide Heroes.md' }), open({ responses })), { id: 5, score: 1 })
  t.match(await identify(createGenesisRom({ fs_name: 'Tide Runner.md' }), open({ responses })), { id: 7, score: 1 })
})

test('a title in two parts is searched by its last part after no match', async (t) => {
  const ctx = open({
    responses: [{ url: `${API}/jeuRecherche.php`, query: { recherche: 'low water' }, json: { response: { jeux: [{ id: '30', noms: [{ region: 'ss', text: 'Tide Runner III : Low Water' }] }] } } }]
  })
  t.match(await identify(createGenesisRom({ fs_name: 'The Tides - Low Water.md' }), ctx), { id: 30 })
  t.same(lookups(ctx).map(([, query]) => (query as { recherche?: string }).recherche), [undefined, 'tides - low water', 'low water'])
})

test('arcade games are searched on the boards of all makers', async (t) => {
  const ctx = open()
  t.equal(await identify(createGenesisRom({ fs_name: 'x.zip', titles: ['Nobody Knows'], platform: { slug: 'arcade', ids: [75, 6, 7, 8] } }), ctx), undefined)
  t.same(lookups(ctx).map(([, query]) => (query as { systemeid?: string }).systemeid), ['75', '75', '6', '7', '8'])
})

test('an entry that is no game ends the lookup', async (t) => {
  for (const jeu of [{ id: '5', notgame: 'true', noms: [] }, { id: '5', noms: [{ region: 'eu', text: 'ZZZ(notgame):Tide Runner' }] }]) {
    const ctx = open({ responses: [{ url: `${API}/jeuInfos.php`, json: { response: { jeu } } }] })
    t.equal(await identify(known, ctx), undefined)
    t.equal(lookups(ctx).length, 1)
  }
})

test('a manual search lists games, the best first, and no other entries', async (t) => {
  const { platform } = known
  const found = await definition.search?.({ term: 'Tide Runner', platform }, open())
  t.same(found?.map(({ id }) => id), [9, 20, 22, 21])
  t.same(await definition.search?.({ term: 'nothing of that kind', platform }, open()), [])
})

test('limits are learnt from responses, with one warning for a low allowance', async (t) => {
  const ctx = open()
  await identify(known, ctx)
  t.same(ctx.limits.at(-1), { concurrency: 2, rates: [{ requests: 3072, perMs: 60_000 }] })
  const [allowance] = ctx.allowances
  t.match(allowance, { name: 'day', remaining: 19_988, total: 20_000 })
  t.equal(new Date(allowance?.resetsAt ?? 0).getUTCHours(), 23, 'midnight in Paris, in winter')
  const low = open({
    responses: [{ url: `${API}/ssuserInfos.php`, json: { response: { ssuser: { maxthreads: 'many', maxrequestspermin: '0', maxrequestsperday: '100', requeststoday: '95' } } } }]
  })
  await identify(createGenesisRom({ fs_name: 'x.md' }), low)
  await identify(createGenesisRom({ fs_name: 'y.md' }), low)
  t.match(low.limits[0], { concurrency: 2 }, 'what is no number says nothing')
  t.equal(low.logs.filter(({ message }) => message === 'a daily allowance is nearly used up').length, 1)
})

test('the account is read once per scan, and its failure stops nothing', async (t) => {
  const ctx = open({ responses: [{ url: `${API}/ssuserInfos.php`, status: 403, text: 'Erreur de login : Vérifier vos identifiants !  ' }] })
  t.match(await identify(known, ctx), { id: 3 })
})

test('every refusal becomes its own error', async (t) => {
  const french = { headers: { 'content-type': 'application/json' } }
  const developer = { text: 'Erreur de login : Vérifier vos identifiants développeur !  ' }
  const refusals: [Omit<PlannedResponse, 'url'>, new (...args: never[]) => Error, RegExp][] = [
    [{ ...french, ...developer, status: 403 }, CredentialsRefusedError, /SCREENSCRAPER_DEV_ID/],
    [{ ...french, ...developer, status: 200 }, CredentialsRefusedError, /SCREENSCRAPER_DEV_ID/],
    [{ status: 426, text: 'blacklist' }, CredentialsRefusedError, /update/],
    [{ status: 401, text: 'API fermé pour les non membres' }, ServiceDownError, /closed to inactive members/],
    [{ status: 423, text: 'API totalement fermé' }, ServiceDownError, /closed/],
    [{ status: 429 }, RateLimitedError, /./],
    [{ status: 430, text: 'Votre quota de scrape est dépassé' }, RateLimitedError, /no more requests .* today/],
    [{ status: 418 }, HttpStatusError, /./],
    [{ text: '<!doctype html><title>Maintenance</title>' }, ServiceDownError, /without the JSON object/]
  ]
  for (const [response, type, message] of refusals) {
    const ctx = openWith(response)
    const failure = await identify(known, ctx).then(() => undefined, (err: unknown) => err)
    t.ok(failure instanceof type, `${response.status}: ${String(failure)}`)
    t.match(String(failure), message)
    t.notMatch(String(failure) + JSON.stringify(ctx.logs), SECRETS)
  }
})

test('the second refusal for spent requests pauses the provider, not the first', async (t) => {
  const ctx = openWith({ status: 430, text: 'quota' })
  await t.rejects(identify(known, ctx), RateLimitedError)
  t.equal(ctx.allowances.at(-1)?.remaining, 19_988)
})

test('a response about the account never pauses the provider', async (t) => {
  const spent = { maxrequestsperday: '100', requeststoday: '100' }
  for (const answer of [{ status: 430, text: 'quota' }, { json: { response: { ssuser: spent } } }]) {
    const ctx = open({ responses: [{ url: `${API}/ssuserInfos.php`, ...answer }] })
    t.match(await identify(known, ctx), { id: 3 })
    t.notOk(ctx.allowances.some(({ remaining }) => remaining === 0))
  }
  const told = openWith({ json: { response: { ssuser: spent, jeu: {} } } })
  await identify(known, told)
  t.equal(told.allowances.at(-1)?.remaining, 0, 'an answer to a lookup does')
})

test('a spent day pauses the provider for at most a quarter of an hour', async (t) => {
  const ctx = openWith({ status: 430, text: 'quota' })
  await t.rejects(identify(known, ctx), RateLimitedError)
  await t.rejects(identify(known, ctx), RateLimitedError)
  const { remaining, resetsAt = 0 } = ctx.allowances.at(-1) ?? {}
  t.equal(remaining, 0)
  t.ok(resetsAt > Date.now() && resetsAt <= Date.now() + 15 * 60_000)
})

test('an unknown game is not found, also with an invalid hash or spent quota', async (t) => {
  for (const [status, text] of [[404, 'Erreur : Rom/Iso/Dossier non trouvée !  '], [400, 'Champ crc, md5 ou sha1 erroné  '], [431, 'Faite du tri !'], [200, 'Erreur : Jeu non trouvée !  ']] as const) {
    t.equal(await identify(known, openWith({ status, text })), undefined, text)
  }
})

test('an invalid backslash does not lose a response', async (t) => {
  const name = String.raw`{ "region": "ss", "text": "AC\DC \"Live\" \\ \u00e9" }`
  const text = `{ "response": { "jeu": { "id": "3", "noms": [${name}] } } }`
  t.match(await identify(known, openWith({ text })), { id: 3, name: String.raw`AC\DC "Live" \ é` })
})

test('reading a game never fails, whatever it holds', async (t) => {
  const keys = ['noms', 'systeme', 'editeur', 'joueurs', 'note', 'synopsis', 'classifications', 'dates', 'genres', 'medias']
  const entry = fc.dictionary(fc.constantFrom('region', 'langue', 'text', 'type', 'url', 'noms', 'parent'), fc.jsonValue())
  const game = fc.dictionary(fc.constantFrom(...keys), fc.oneof(fc.jsonValue(), fc.array(entry), entry))
  fc.assert(fc.property(game, (fields) => toMatch({ id: 1, fields }, VIEWPOINT).id === 1))
  t.pass()
})
