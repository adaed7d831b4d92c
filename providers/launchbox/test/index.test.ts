import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { ServiceDownError, type Rom } from '@svc/plugin-sdk'
import { type PlannedResponse, type RomOverrides, createPluginContext, createRom, testProvider } from '@svc/plugin-sdk/testing'
import fc from 'fast-check'
import t from 'tap'
import { ZipFile } from 'yazl'
import provider from '../src/index.ts'
import { cutTags, foldTitle, listForms, moveArticle, toStemKey, toTitleKey } from '../src/names.ts'

const { definition } = provider
const URL_OF_DUMP = 'https://gamesdb.launchbox-app.com/Metadata.zip'
const IMAGES = 'https://images.launchbox-app.com'
const PLATFORM = 'Super Nintendo Entertainment System'
const LIST = `Data/Platforms/${PLATFORM}.xml`
const HARBOR = { fs_name: 'Chrono Harbor - Second Tide (USA).sfc' }

const readFixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')

async function zip (members: Readonly<Record<string, string>>): Promise<Uint8Array> {
  const file = new ZipFile()
  for (const [name, text] of Object.entries(members)) file.addBuffer(Buffer.from(text), name)
  file.end()
  return await buffer(file.outputStream)
}

const MEMBERS = Object.fromEntries(['Platforms.xml', 'Metadata.xml', 'Mame.xml', 'Files.xml'].map((name) => [name, readFixture(name)]))
const DUMP: readonly PlannedResponse[] = [{ url: URL_OF_DUMP, bytes: await zip(MEMBERS) }]
const INSTALLATION = { [LIST]: readFixture('installation.xml') }

interface Options {
  remote?: boolean
  responses?: readonly PlannedResponse[]
  installation?: Readonly<Record<string, string>>
  isRemoteWanted?: boolean
  regions?: string[]
}

/** Opens a context with the dump, the folder, or both. */
function open ({ remote = true, responses = DUMP, installation, isRemoteWanted = true, regions = ['us', 'jp'] }: Options = {}) {
  return createPluginContext(provider, {
    responses,
    config: { remote, ...installation !== undefined && { installation: '/launchbox' } },
    folders: installation === undefined ? {} : { installation },
    options: { launchbox_remote_enabled: isRemoteWanted },
    preferences: { regions }
  })
}

const identify = (rom: RomOverrides, ctx = open()) => definition.identify?.(createRom(rom), ctx)
const idOf = async (rom: RomOverrides, ctx = open()) => (await identify(rom, ctx))?.id

t.test('conforms with the dump', (t) => testProvider(t, provider, {
  packageUrl: new URL('../package.json', import.meta.url),
  config: { remote: true },
  responses: DUMP,
  known: { rom: HARBOR, id: 40217, name: 'Chrono Harbor: Second Tide' }
}))

t.test('conforms with a folder alone', (t) => testProvider(t, provider, {
  config: { installation: '/launchbox' },
  folders: { installation: INSTALLATION },
  known: { rom: HARBOR, id: 40217, name: 'Chrono Harbor: Second Tide DX' }
}))

t.test('a game of the dump yields all its fields', async (t) => {
  const match = await identify(HARBOR)
  t.match(match, {
    id: 40217,
    name: 'Chrono Harbor: Second Tide',
    summary: 'Sail a chain of islands & trade.',
    genres: ['Action', 'Role-Playing'],
    companies: ['Tidal', 'Harbor Works'],
    developers: ['Harbor Works'],
    publishers: ['Tidal'],
    age_ratings: ['E10+'],
    min_age: 10,
    first_release_date: Date.UTC(1995, 2, 11),
    average_rating: 85,
    youtube_video_id: 'AbCdEfGhIjK'
  })
  t.notOk(Object.hasOwn(match ?? {}, 'player_count'))
  t.match(match?.metadata, {
    first_release_date: Date.UTC(1995, 2, 11) / 1000,
    max_players: 2,
    release_type: 'Released',
    cooperative: true,
    youtube_video_id: 'AbCdEfGhIjK',
    community_rating: 4.25,
    community_rating_count: 37,
    wikipedia_url: 'https://en.wikipedia.org/wiki/Example',
    esrb: 'E10+',
    genres: ['Action', 'Role-Playing'],
    companies: ['Tidal', 'Harbor Works']
  })
  t.same(match?.metadata?.images[1], { url: `${IMAGES}/us.jpg`, type: 'Box - Front', region: 'North America' })
  t.equal(match?.metadata?.images.length, 5)
})

t.test('pictures of the dump become media; the cover has the ROM\'s region', async (t) => {
  const media = async (regions: string[]) => (await identify({ ...HARBOR, region_codes: regions }))?.media ?? []
  t.same(await media([]), [
    { kind: 'cover', url: `${IMAGES}/us.jpg` },
    { kind: 'cover', url: `${IMAGES}/jp%20front.PNG` },
    { kind: 'cover', url: `${IMAGES}/3d.png` },
    { kind: 'box3d', url: `${IMAGES}/3d.png` },
    { kind: 'title_screen', url: `${IMAGES}/title.jpg` },
    { kind: 'screenshot', url: `${IMAGES}/play.jpg` },
    { kind: 'screenshot', url: `${IMAGES}/title.jpg` }
  ])
  t.equal((await media(['jp']))[0]?.url, `${IMAGES}/jp%20front.PNG`)
  const ofJapan = await identify({ fs_name: 'Chrono Harbor - Second Tide.sfc' }, open({ regions: ['jp', 'us'] }))
  t.equal(ofJapan?.media?.[0]?.url, `${IMAGES}/jp%20front.PNG`, 'the preferred region decides where the name has none')
  t.equal((await media(['eu']))[0]?.url, `${IMAGES}/us.jpg`, 'what the owner prefers comes after the own region')
})

t.test('the year counts if the day is unknown', async (t) => {
  const match = await definition.getById?.(2, undefined, open())
  t.match(match, { id: 2, first_release_date: Date.UTC(1997), metadata: { first_release_date: Date.UTC(1997) / 1000 } })
})

t.test('invalid values are dropped one by one', async (t) => {
  const match = await identify({ fs_name: 'Legend of Quay, The - Dawn.sfc' })
  t.match(match, { id: 3, name: 'The Legend of Quay: Dawn', average_rating: undefined, first_release_date: undefined })
  t.match(match?.metadata, { max_players: 0, first_release_date: null, youtube_video_id: '', community_rating: 0, esrb: '' })
  t.same(match?.media, [{ kind: 'logo', url: `${IMAGES}/logo.png` }])
})

t.test('a game is found by file, name, moved article, alternative name or letters', async (t) => {
  t.equal(await idOf({ fs_name: 'CHQ2 (USA) [!].sfc' }), 40217)
  t.equal(await idOf({ fs_name: 'chrono_harbor (Japan).sfc' }), 7)
  t.equal(await idOf({ fs_name: 'Legend of Quay, The - Dawn (Europe).sfc' }), 3)
  t.equal(await idOf({ fs_name: 'Harbor Adventure.sfc' }), 40217, 'of the same alternative name, that of the platform')
  t.equal(await idOf({ fs_name: 'Pokemon Harbor!.sfc' }), 4)
  t.equal(await idOf({ fs_name: 'クロノ・ハーバー.sfc' }), 5)
})

t.test('another platform, a neighbouring title and an unknown title do not match', async (t) => {
  t.equal(await idOf({ fs_name: 'Legend of the Quay.sfc' }), undefined)
  t.equal(await idOf({ fs_name: 'Legend of the Quay.bin', platform: { slug: 'psx' } }), 2)
  t.equal(await idOf({ fs_name: 'Chrono Harbor 2.sfc' }), undefined)
  t.equal(await idOf({ fs_name: '!!!.sfc' }), undefined)
  t.equal(await idOf({ fs_name: 'Broken.sfc' }), undefined)
})

t.test('an arcade game\'s short name is looked up in MAME\'s list, only there', async (t) => {
  t.equal(await idOf({ fs_name: 'tf2.zip', platform: { slug: 'arcade' } }), 6)
  t.equal(await idOf({ fs_name: 'tf2.zip' }), undefined)
  const ctx = open()
  t.same((await ctx.index.getMany(['mame:tf2'])).get('mame:tf2'), ['Tide Fighter II: The World Sailor (World 910522)'])
  t.equal(definition.index?.titles?.mame, 'mame:')
})

t.test('titles of other providers for the file are tried', async (t) => {
  t.equal(await idOf({ fs_name: 'queen.zip', titles: ['Chrono Harbor - Second Tide', 'queen'] }), 40217)
})

t.test('an entry of the folder comes first and is completed from the dump', async (t) => {
  const match = await identify(HARBOR, open({ installation: INSTALLATION }))
  t.match(match, {
    id: 40217,
    name: 'Chrono Harbor: Second Tide DX',
    summary: 'As the owner tells it.',
    genres: ['Sailing', 'Action'],
    companies: ['Tidal'],
    age_ratings: ['T'],
    min_age: 13,
    average_rating: 85,
    first_release_date: Date.UTC(1995, 2, 11)
  })
  t.match(match?.metadata, { max_players: 2, cooperative: true, wikipedia_url: /^https/ })
})

t.test('a game outside the database has its own stable id', async (t) => {
  const alone = { remote: false, installation: INSTALLATION }
  const match = await identify({ fs_name: 'own-game.sfc' }, open(alone))
  t.match(match, { name: 'Own Game', average_rating: 50, youtube_video_id: 'AbCdEfGhIjK' })
  t.match(match?.metadata, { community_rating: 2.5, community_rating_count: 3, cooperative: false })
  const id = match?.id ?? 0
  t.ok(Number.isSafeInteger(id) && id < 0)
  const again = await definition.getById?.(id, createRom({ fs_name: 'own-game.sfc' }), open(alone))
  t.match(again, { id, name: 'Own Game' })
  t.equal(await definition.getById?.(id, undefined, open(alone)), undefined)
})

t.test('an entry is found by file, file without tags and title', async (t) => {
  const nameOf = async (fsName: string) =>
    (await identify({ fs_name: fsName }, open({ remote: false, installation: INSTALLATION })))?.name
  t.equal(await nameOf('chrono harbor - second tide (usa).SFC'), 'Chrono Harbor: Second Tide DX')
  t.equal(await nameOf('Chrono Harbor - Second Tide (Europe).sfc'), 'Chrono Harbor: Second Tide DX')
  t.equal(await nameOf('own game (USA).sfc'), 'Own Game')
  t.equal(await nameOf('Chrono.sfc'), undefined)
  t.equal(await idOf({ fs_name: 'pokeharbor.smc' }, open({ installation: INSTALLATION })), 4)
})

t.test('local files replace the dump\'s media of their kind, own region first', async (t) => {
  const images = `Images/${PLATFORM}`
  const files = [
    `${images}/Box - Front/Chrono Harbor_ Second Tide DX-02.png`,
    `${images}/Box - Front/Japan/Chrono Harbor_ Second Tide DX-01.jpg`,
    `${images}/Box - Front/Europe/Chrono Harbor_ Second Tide DX-01.jpg`,
    `${images}/Box - Front/Europe/Chrono Harbor-01.jpg`,
    `${images}/Screenshot - Gameplay/Chrono Harbor - Second Tide (USA).png`,
    `${images}/Screenshot - Game Title/North America/Chrono Harbor - Second Tide (USA)-01.webp`,
    `${images}/Banner/Chrono Harbor - Second Tide (USA).png`,
    `${images}/Clear Logo/Chrono Harbor - Second Tide (USA).txt`,
    `Manuals/${PLATFORM}/Chrono Harbor 2.pdf`,
    `Manuals/${PLATFORM}/Chrono Harbor - Second Tide (USA) (Rev 1).pdf`,
    `Videos/${PLATFORM}/Chrono Harbor_ Second Tide DX-01.mp4`
  ]
  const match = await identify(HARBOR, open({ installation: { ...INSTALLATION, ...Object.fromEntries(files.map((file) => [file, 'x'])) } }))
  const place = (file: string | undefined) => `folder://installation/${file}`
  t.same(match?.media, [
    { kind: 'cover', url: place(files[2]) },
    { kind: 'cover', url: place(files[1]) },
    { kind: 'cover', url: place(files[0]) },
    { kind: 'title_screen', url: place(files[5]) },
    { kind: 'screenshot', url: place(files[5]) },
    { kind: 'screenshot', url: place(files[4]) },
    { kind: 'manual', url: place(files[9]) },
    { kind: 'video', url: place(files[10]) },
    { kind: 'box3d', url: `${IMAGES}/3d.png` }
  ])
  t.equal(match?.metadata?.video_url, place(files[10]))
  t.equal(match?.metadata?.images.length, 10)
})

t.test('a scan can skip the dump, and a disabled dump is never fetched', async (t) => {
  for (const options of [{ isRemoteWanted: false }, { remote: false }]) {
    const ctx = open({ ...options, installation: INSTALLATION })
    t.match(await identify(HARBOR, ctx), { id: 40217, age_ratings: ['T'], average_rating: undefined })
    t.equal(await identify({ fs_name: 'Harbor Adventure.sfc' }, ctx), undefined)
    t.equal(await definition.getById?.(7, createRom({}), ctx), undefined)
    t.equal(ctx.requests.length, 0)
  }
})

t.test('a game is read by its id and completed from an entry with the same id', async (t) => {
  const ctx = open({ installation: INSTALLATION })
  t.match(await definition.getById?.(40217, createRom(HARBOR), ctx), { id: 40217, summary: 'As the owner tells it.' })
  t.match(await definition.getById?.(7, createRom(HARBOR), ctx), { id: 7, name: 'Chrono Harbor', summary: undefined })
  t.match(await definition.getById?.(40217, undefined, ctx), { id: 40217, summary: /islands/ })
  t.equal(await definition.getById?.(999, createRom(HARBOR), ctx), undefined)
})

t.test('a manual search returns the one game of that name', async (t) => {
  const { platform } = createRom({}) satisfies Rom
  t.match(await definition.search?.({ term: 'chrono harbor: second tide', platform }, open()), [{ id: 40217 }])
  t.same(await definition.search?.({ term: 'Chrono', platform }, open()), [])
})

t.test('the folder works without the dump, with one log line', async (t) => {
  const ctx = open({ installation: INSTALLATION, responses: [{ url: URL_OF_DUMP, status: 503 }] })
  t.match(await identify(HARBOR, ctx), { id: 40217, name: 'Chrono Harbor: Second Tide DX' })
  t.match(await identify({ fs_name: 'own-game.sfc' }, ctx), { name: 'Own Game' })
  t.equal(ctx.logs.length, 1)
  await t.rejects(async () => await identify({ fs_name: 'Elsewhere.sfc' }, ctx), ServiceDownError)
})

t.test('a dump that is no zip, broken or empty is an outage and changes nothing', async (t) => {
  const dumps = [
    { text: '<html>maintenance</html>' },
    { bytes: (await zip(MEMBERS)).slice(0, 900) },
    { bytes: await zip({ 'Metadata.xml': '<LaunchBox><Game>' }) },
    { bytes: await zip({ ...MEMBERS, 'Mame.xml': '<LaunchBox><MameFile><Name>Tide & Co' }) },
    { bytes: await zip({ 'Metadata.xml': '<LaunchBox/>', 'Mame.xml': MEMBERS['Mame.xml'] ?? '' }) }
  ]
  for (const dump of dumps) {
    const ctx = open({ responses: [{ url: URL_OF_DUMP, ...dump }] })
    await t.rejects(async () => await identify(HARBOR, ctx), ServiceDownError)
  }
})

t.test('building the index reports progress, or logs that the dump is off', async (t) => {
  const told: { done: number, total?: number, message?: string }[] = []
  const build = async (remote: boolean) => {
    const ctx = { ...open({ remote }), report: (progress: typeof told[number]) => { told.push(progress) } }
    let count = 0
    for await (const entries of definition.index?.build(ctx) ?? []) count += entries.length
    return { count, asked: ctx.requests.length, logs: ctx.logs }
  }
  t.ok((await build(true)).count > 0)
  const size = Buffer.byteLength(MEMBERS['Metadata.xml'] ?? '')
  t.ok(told.some(({ done, total, message }) => message === 'Metadata.xml' && done === size && total === size))
  t.match(await build(false), { count: 0, asked: 0, logs: [{ level: 'info', message: /LAUNCHBOX_API_ENABLED=true/ }] })
})

t.test('a broken list in the folder yields nothing and one warning', async (t) => {
  const ctx = open({ remote: false, installation: { [LIST]: '<LaunchBox><Game><Title>Own' } })
  t.equal(await identify({ fs_name: 'own-game.sfc' }, ctx), undefined)
  t.equal(await identify(HARBOR, ctx), undefined)
  t.match(ctx.logs, [{ level: 'warn', fields: { file: LIST } }])
  t.equal(ctx.logs.length, 1)
})

t.test('only listed files become media, whatever paths a list contains', async (t) => {
  const games = [
    ['..\\..\\harbor.sfc', '../../../etc/shadow'], ['/etc/quay.sfc', '/etc/passwd'], ['C:\\Games\\dock.sfc', '..']
  ].map(([path, title]) => `<Game><Title>${title}</Title><ApplicationPath>${path}</ApplicationPath><DatabaseID>9</DatabaseID>` +
    '<ManualPath>../../secret.pdf</ManualPath></Game>')
  const installation = {
    [LIST]: `<LaunchBox>${games.join('')}</LaunchBox>`,
    [`Images/${PLATFORM}/Box - Front/Europe/_etc_passwd-01.png`]: 'x',
    'Manuals/secret.pdf': 'x'
  }
  const media = async (name: string) =>
    (await identify({ fs_name: name }, open({ remote: false, installation })))?.media
  t.same(await media('harbor.sfc'), [])
  const place = `folder://installation/Images/${PLATFORM}/Box - Front/Europe/_etc_passwd-01.png`
  t.same(await media('quay.sfc'), [{ kind: 'cover', url: place }])
  t.same(await media('dock.sfc'), [])
})

t.test('the heartbeat succeeds with a folder or a built index', async (t) => {
  t.equal(await definition.heartbeat?.(open({ remote: false, installation: INSTALLATION })), true)
  t.equal(await definition.heartbeat?.(open({ remote: false, installation: {} })), false)
  const ctx = open()
  t.equal(await definition.heartbeat?.(ctx), false)
  await identify(HARBOR, ctx)
  t.equal(await definition.heartbeat?.(ctx), true)
})

t.test('settings are missing without the dump and without a folder', async (t) => {
  t.match(definition.missing?.({ remote: false }), /LAUNCHBOX_API_ENABLED to true, or LAUNCHBOX_FOLDER/)
  t.equal(definition.missing?.({ remote: true }), undefined)
  t.equal(definition.missing?.({ remote: false, installation: '/launchbox' }), undefined)
})

t.test('names are normalized for comparison', async (t) => {
  t.same(listForms('Dr. Harbor (USA) [!].SFC'), ['dr. harbor (usa) [!]', 'dr. harbor'])
  t.equal(cutTags('(Only)'), '(Only)')
  t.equal(toTitleKey('Quay_of Time - Dawn'), 'quay of time: dawn')
  t.equal(moveArticle('legend of x, the: sub'), 'the legend of x: sub')
  t.equal(foldTitle('Burnout: Revenge'), foldTitle('BURNOUT REVENGE'))
  t.equal(foldTitle('Pokémon'), 'pokemon')
  t.not(foldTitle('ハバ'), foldTitle('ハハ'), 'marks of other scripts make another letter')
  t.equal(toStemKey('Who’s: There?'), toStemKey('Who_s_ There_'))
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (title) => {
    const key = toStemKey(title)
    return !/[\s!-/:-@]/.test(foldTitle(title)) && !/[\s:'\\/|<>"?*]/.test(key) && toStemKey(key) === key
  }))
})
