import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { createXmlElement, renderXml } from '@svc/plugin-sdk/xml'
import { createPluginContext, createRom, testProvider, type RomOverrides } from '@svc/plugin-sdk/testing'
import provider from '../src/index.ts'
import { parseGamelist } from '../src/entries.ts'

const FOLDER = 'roms/snes'
const FILE = `${FOLDER}/gamelist.xml`

function readFixture (name: string): string {
  return readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
}

/** Creates a library with one gamelist.xml and other non-empty files. */
function createLibrary (xml: string, ...files: string[]): Record<string, string> {
  return { [FILE]: xml, ...Object.fromEntries(files.map((file) => [file, 'x'])) }
}

function createContext (files: Record<string, string>) {
  return createPluginContext(provider, { files })
}

function identify (rom: RomOverrides, ctx: ReturnType<typeof createContext>) {
  return provider.definition.identify?.(createRom(rom), ctx)
}

function identifyIn (xml: string, rom: RomOverrides, ...files: string[]) {
  return identify(rom, createContext(createLibrary(xml, ...files)))
}

function createGame (path: string, children: Record<string, string> = {}): string {
  const texts = Object.entries({ path, ...children }).map(([name, text]) => createXmlElement(name, text))
  return renderXml(createXmlElement('gameList', [createXmlElement('game', texts)]))
}

const ES_DE = readFixture('es-de.xml')
const HARBOR = { fs_name: 'Chrono Harbor (USA).sfc' }

t.test('conforms', (t) => testProvider(t, provider, {
  packageUrl: new URL('../package.json', import.meta.url),
  files: createLibrary(ES_DE, `${FOLDER}/art/harbor.png`),
  known: { rom: HARBOR, name: 'Chrono Harbor' }
}))

t.test('an entry in the folder of a ROM describes that ROM', async (t) => {
  const folder = { fs_name: 'FF7', fs_extension: '', titles: ['FF7'] }
  const game = (path: string, desc: string) => `<game><path>${path}</path><name>Harbor 7</name><desc>${desc}</desc></game>`
  const read = async (...games: string[]) =>
    (await identifyIn(`<gameList>${games.join('')}</gameList>`, folder, `${FOLDER}/covers/FF7/FF7.png`))
  t.match(await read(game('./FF7/FF7.m3u', 'Sail.')), {
    name: 'Harbor 7', summary: 'Sail.', media: [{ kind: 'cover', url: `file://${FOLDER}/covers/FF7/FF7.png` }]
  })
  t.match(await read(game('./FF7/Disc 1.cue', 'one'), game('./FF7/FF7.M3U', 'all'), game('./FF7/Disc 2.cue', 'two')), { summary: 'all' })
  t.match(await read(game('./FF7/FF7.cue', 'one')), { summary: 'one' })
  t.equal(await read(game('./FF7/A.nes', 'a'), game('./FF7/B.nes', 'b')), undefined, 'a folder of several games')
  t.equal(await read(game('./FF7/extra/FF7.m3u', 'deep')), undefined)
})

t.test('an entry beside a second root element yields all its fields', async (t) => {
  const match = await identifyIn(ES_DE, HARBOR)
  t.match(match, {
    name: 'Chrono Harbor',
    sort_name: 'chrono harbor 000000000001',
    summary: 'Sail a chain of islands.\nTrade & explore.',
    regions: ['USA'],
    languages: ['English', 'French'],
    companies: ['Harbor Works', 'Tidal Works, Inc.'],
    developers: ['Harbor Works'],
    publishers: ['Tidal Works, Inc.'],
    franchises: ['Chrono'],
    genres: ['Role-Playing', 'Race, Driving'],
    player_count: '1-2',
    first_release_date: Date.UTC(1995, 2, 11),
    average_rating: 85
  })
  t.same(match?.metadata, {
    rating: 0.85,
    first_release_date: '19950311T000000',
    sort_name: 'The Chrono Harbor 1',
    player_count: '1-2',
    md5_hash: '0f343b0931126a20f133d67c2b018a3b',
    companies: ['Harbor Works', 'Tidal Works, Inc.'],
    franchises: ['Chrono'],
    genres: ['Role-Playing', 'Race, Driving']
  })
})

t.test('commas are part of names, and hyphens separate genres', async (t) => {
  const read = async (children: Record<string, string>) =>
    identifyIn(createGame('./Chrono Harbor (USA).sfc', children), HARBOR)
  for (const name of ['BlueSky Software, Inc.', 'Kawada, Co. Ltd', 'Assembly Line, The']) {
    const match = await read({ developer: name, publisher: name })
    t.match(match, { developers: [name], publishers: [name], companies: [name] })
  }
  const GENRES: [string, string[]][] = [
    ['Race, Driving', ['Race, Driving']],
    ['Sports / Soccer-Sports', ['Sports / Soccer', 'Sports']],
    ['Platform-Action / Adventure-3D', ['Platform', 'Action / Adventure', '3D']],
    ['アクション-シューティング', ['アクション', 'シューティング']],
    ['Role-Playing', ['Role-Playing']],
    ['Puzzle-Game', ['Puzzle-Game']],
    ['Action-Puzzle-Game-Casual', ['Action', 'Puzzle-Game', 'Casual']],
    ['Shoot-\'Em-Up-Puzzle', ['Shoot-\'Em-Up', 'Puzzle']],
    ['Hack-and-Slash', ['Hack-and-Slash']]
  ]
  for (const [genre, genres] of GENRES) t.match(await read({ genre }), { genres, metadata: { genres } }, genre)
})

t.test('an unescaped emulator name does not lose the list', async (t) => {
  const list = createGame('./Chrono Harbor (USA).sfc', { name: 'Chrono Harbor', desc: 'Sail.' })
  const EMULATORS = [
    '<alternativeEmulator label="Tide & Sons"/>', '<alternativeEmulator label="Tide & Sons">\n</alternativeEmulator>',
    '<alternativeEmulator>\n  <label>Tide & Sons</label>\n</alternativeEmulator>'
  ]
  for (const emulator of EMULATORS) {
    t.match(await identifyIn(`<?xml version="1.0"?>\n${emulator}\n${list}`, HARBOR), { name: 'Chrono Harbor' }, emulator)
    t.throws(() => parseGamelist(`${emulator}\n<gameList><game></gameList>`, 'list'), {
      message: new RegExp(`line ${emulator.split('\n').length + 1}\\b`)
    }, 'and lines keep their numbers')
  }
  for (const broken of ['<alternativeEmulator', '<alternativeEmulator>&', '<a>&</a>']) {
    t.throws(() => parseGamelist(broken, 'list'), { name: 'XmlError' })
  }
})

t.test('a list of Skraper is read', async (t) => {
  const children = '<path>./Chrono Harbor (USA).sfc</path><name>Chrono : Harbor</name><players>8+</players><hash></hash>' +
    '<genreid>257</genreid>'
  const xml = '\uFEFF<?xml version="1.0"?><gameList><provider><System>Super Nintendo</System></provider>' +
    `<game id="7" source="ScreenScraper.fr">${children}<image>./Imgs/harbor.png</image></game></gameList>`
  t.match(await identifyIn(xml, HARBOR, `${FOLDER}/Imgs/harbor.png`), {
    name: 'Chrono : Harbor', player_count: '8+', ids: { ss: 7 }, media: [{ kind: 'cover', url: `file://${FOLDER}/Imgs/harbor.png` }]
  })
})

t.test('existing media are found, the cover before the image', async (t) => {
  const art = `${FOLDER}/art`
  const video = `${FOLDER}/videos/Chrono Harbor (USA).mp4`
  const match = await identifyIn(ES_DE, HARBOR, `${art}/harbor.png`, `${art}/harbor-mix.png`, video)
  t.same(match?.media, [{ kind: 'cover', url: `file://${art}/harbor.png` }, { kind: 'video', url: `file://${video}` }])
  t.match(match?.metadata, {
    box2d_url: `file://${art}/harbor.png`,
    image_url: `file://${art}/harbor-mix.png`,
    video_url: `file://${video}`
  })
})

t.test('the image is the cover when there is no cover', async (t) => {
  const match = await identifyIn(ES_DE, HARBOR, `${FOLDER}/art/harbor-mix.png`)
  t.same(match?.media, [{ kind: 'cover', url: `file://${FOLDER}/art/harbor-mix.png` }])
})

t.test('unnamed media are found in the folders beside the ROMs', async (t) => {
  const stem = 'Chrono Harbor (USA)'
  const match = await identifyIn(ES_DE, HARBOR,
    `${FOLDER}/covers/${stem}.jpg`, `${FOLDER}/covers/${stem}.png`, `${FOLDER}/covers/${stem}.txt`,
    `${FOLDER}/3dboxes/${stem}.v2.png`, `${FOLDER}/manuals/${stem}.pdf`, `${FOLDER}/marquees/${stem}.sfc.png`)
  t.same(match?.media, [
    { kind: 'cover', url: `file://${FOLDER}/covers/${stem}.jpg` },
    { kind: 'marquee', url: `file://${FOLDER}/marquees/${stem}.sfc.png` },
    { kind: 'manual', url: `file://${FOLDER}/manuals/${stem}.pdf` }
  ])
})

t.test('a folder entry gives its name to no game', async (t) => {
  t.equal(await identifyIn(ES_DE, { fs_name: 'Discs of Chrono Harbor' }), undefined)
  const same = '<gameList><game><path>./Harbor</path><name>Harbor</name><desc>Sail away.</desc></game>' +
    '<folder><path>./Harbor</path><name>All parts</name></folder></gameList>'
  t.match(await identifyIn(same, { fs_name: 'Harbor' }), { name: 'Harbor' })
})

t.test('the media of a folder have its whole name, dots included', async (t) => {
  const match = await identifyIn(ES_DE, { fs_name: 'Harbor Saga Vol. 2 (USA)' },
    `${FOLDER}/covers/Harbor Saga Vol.png`, `${FOLDER}/covers/Harbor Saga Vol. 2 (USA).png`)
  t.same(match?.media, [{ kind: 'cover', url: `file://${FOLDER}/covers/Harbor Saga Vol. 2 (USA).png` }])
})

t.test('the media of a ROM in a subfolder come from the same subfolder first', async (t) => {
  const match = await identifyIn(readFixture('paths.xml'), { fs_name: 'Twin.sfc', fs_path: `${FOLDER}/hacks` },
    `${FOLDER}/covers/Twin.png`, `${FOLDER}/covers/hacks/Twin.png`, `${FOLDER}/fanart/Twin.png`)
  t.same(match?.media, [
    { kind: 'cover', url: `file://${FOLDER}/covers/hacks/Twin.png` },
    { kind: 'fanart', url: `file://${FOLDER}/fanart/Twin.png` }
  ])
})

t.test('an empty file is not a medium', async (t) => {
  const files = { [FILE]: ES_DE, [`${FOLDER}/covers/Chrono Harbor (USA).png`]: '' }
  t.same((await identify(HARBOR, createContext(files)))?.media, [])
})

t.test('a folder that cannot be listed costs its media and logs one warning', async (t) => {
  const context = createContext(createLibrary(ES_DE, `${FOLDER}/covers/Chrono Harbor (USA).png`))
  const list = async (path: string) => {
    if (path === `${FOLDER}/art`) throw new Error('ENOTDIR: not a directory')
    return context.files.list(path)
  }
  const ctx = { ...context, files: { ...context.files, list } }
  const matches = await Promise.all([identify(HARBOR, ctx), identify(HARBOR, ctx)])
  for (const match of matches) {
    t.same(match?.media, [{ kind: 'cover', url: `file://${FOLDER}/covers/Chrono Harbor (USA).png` }])
  }
  t.match(ctx.logs, [{ level: 'warn', fields: { folder: `${FOLDER}/art` } }])
  t.equal(ctx.logs.length, 1)
})

t.test('paths that are absolute or leave the library are dropped', async (t) => {
  const ctx = createContext(createLibrary(readFixture('paths.xml'), `${FOLDER}/Thief.sfc`, 'roms/media/thief.png'))
  const match = await identify({ fs_name: 'Thief.sfc' }, ctx)
  t.equal(match?.name, 'Thief')
  t.same(match?.media, [{ kind: 'marquee', url: 'file://roms/media/thief.png' }])
  t.match(ctx.logs, [{ level: 'warn', fields: { file: FILE, count: 3, first: '../../../etc/passwd.png' } }])
  t.equal(ctx.logs.length, 1)
})

t.test('equal file names in two folders are distinguished by path', async (t) => {
  const xml = readFixture('paths.xml')
  const top = await identifyIn(xml, { fs_name: 'Twin.sfc' })
  const hack = await identifyIn(xml, { fs_name: 'Twin.sfc', fs_path: `${FOLDER}/hacks` })
  t.equal(top?.name, 'Twin of the top folder')
  t.equal(hack?.name, 'Twin of the hacks')
  t.not(top?.id, hack?.id)
})

t.test('a ROM in another folder matches by its file name, in the same case', async (t) => {
  const xml = readFixture('paths.xml')
  t.match(await identifyIn(xml, { fs_name: 'Windows.sfc', fs_path: `${FOLDER}/moved` }), { name: 'Windows' })
  t.match(await identifyIn(xml, { fs_name: 'Absolute.sfc' }), { name: 'Absolute' })
  t.equal(await identifyIn(xml, { fs_name: 'absolute.sfc' }), undefined)
  t.equal(await identifyIn(xml, { fs_name: 'Foreign.sfc' }), undefined, 'an entry of another platform folder')
})

t.test('the later of two entries with one path counts', async (t) => {
  t.match(await identifyIn(readFixture('paths.xml'), { fs_name: 'Again.sfc' }), { name: 'Second' })
})

t.test('invalid values are dropped one by one', async (t) => {
  const xml = readFixture('odd-values.xml')
  const odd = await identifyIn(xml, { fs_name: 'Odd Values.sfc' })
  const metadata = { player_count: '1', genres: ['Puzzle'] }
  t.same({ ...odd, id: '' }, { id: '', name: 'Odd Values', genres: ['Puzzle'], ids: {}, media: [], metadata })
})

t.test('an entry with only path, name and hashes is no match', async (t) => {
  const xml = readFixture('retrobat.xml')
  t.equal(await identifyIn(xml, { fs_name: 'Lone Buoy (Europe).sfc' }), undefined)
  t.equal(await identifyIn(readFixture('odd-values.xml'), { fs_name: 'Unrated.sfc' }), undefined)
  t.match(await identifyIn(xml, { fs_name: 'Lone Buoy (Europe).sfc' }, `${FOLDER}/covers/Lone Buoy (Europe).png`),
    { name: 'Lone Buoy' }, 'a picture beside it counts')
})

t.test('codes of regions and languages become names; other texts stay', async (t) => {
  const read = async (children: Record<string, string>) =>
    identifyIn(createGame('./Chrono Harbor (USA).sfc', children), HARBOR)
  t.match(await read({ region: 'us,jp, wr,BR,USA,Moonland' }), { regions: ['USA', 'Japan', 'World', 'Brazil', 'Moonland'] })
  t.match(await read({ lang: 'en,jp,zh,Klingon' }), { languages: ['English', 'Japanese', 'Chinese', 'Klingon'] })
})

t.test('an entry of RetroBat yields its box, back, bezel and ScreenScraper id', async (t) => {
  const xml = readFixture('retrobat.xml')
  const art = `${FOLDER}/images/Gull`
  const match = await identifyIn(xml, { fs_name: 'Gull.sfc' }, `${art}-thumb.png`, `${art}-image.png`, `${art}-boxback.png`,
    `${art}-bezel.png`)
  t.match(match, { regions: ['World'], languages: ['English'], player_count: undefined, ids: { ss: 4711 } })
  t.same(match?.media, [
    { kind: 'cover', url: `file://${art}-thumb.png` }, { kind: 'box2d_back', url: `file://${art}-boxback.png` },
    { kind: 'bezel', url: `file://${art}-bezel.png` }
  ])
  t.match(await identifyIn(xml, { fs_name: 'Tern.sfc' }), { name: 'Tern', ids: { ss: undefined } }, 'an id of another service')
})

t.test('impossible release dates are dropped', async (t) => {
  const read = async (releasedate: string) =>
    (await identifyIn(createGame('./a.sfc', { releasedate }), { fs_name: 'a.sfc' }))?.first_release_date
  t.equal(await read('20000229T000000'), Date.UTC(2000, 1, 29))
  t.equal(await read('19690720T201740'), Date.UTC(1969, 6, 20, 20, 17, 40))
  for (const text of ['19000229T000000', '19951301T000000', '19950100T000000', '19950311T240000', '19700101T010000',
    '00990101T000000', '19950311', 'not-a-date-time']) t.equal(await read(text), undefined, text)
})

t.test('ratings outside 0 to 1 and notations other than decimal are dropped', async (t) => {
  const read = async (rating: string) =>
    (await identifyIn(createGame('./a.sfc', { rating }), { fs_name: 'a.sfc' }))?.average_rating
  t.equal(await read('1'), 100)
  t.equal(await read('.333333'), 33.33)
  for (const text of ['0', '0.000000', '1.1', '-0.5', '85', '0,85', '1e-1', '0x1', 'Infinity', 'NaN']) {
    t.equal(await read(text), undefined, text)
  }
})

for (const name of ['bomb.xml', 'broken.xml']) {
  t.test(`${name} yields no data and one warning for any number of ROMs`, async (t) => {
    const ctx = createContext(createLibrary(readFixture(name)))
    const names = ['Chrono Harbor (USA).sfc', 'Other.sfc', 'Third.sfc']
    const matches = await Promise.all(names.map(async (name) => await identify({ fs_name: name }, ctx)))
    t.same(matches, [undefined, undefined, undefined])
    t.match(ctx.logs, [{ level: 'warn', fields: { err: { name: 'XmlError' }, file: FILE } }])
    t.equal(ctx.logs.length, 1)
  })
}

t.test('a file larger than 64 MiB yields no data and one warning', async (t) => {
  const ctx = createContext(createLibrary(`<gameList>${' '.repeat(64 * 1024 * 1024)}</gameList>`))
  t.equal(await identify({}, ctx), undefined)
  t.match(ctx.logs, [{ level: 'warn', fields: { file: FILE } }])
})

t.test('a missing or empty gamelist.xml yields no data and no warning', async (t) => {
  for (const files of [{}, createLibrary('')]) {
    const ctx = createContext(files)
    t.equal(await identify({}, ctx), undefined)
    t.same(ctx.logs, [])
  }
})

t.test('an entry\'s id is stable across scans and differs between platforms', async (t) => {
  const first = await identifyIn(ES_DE, HARBOR)
  const second = await identifyIn(ES_DE, HARBOR)
  const platform = { slug: 'sfam', fs_slug: 'snes' }
  const elsewhere = await identifyIn(ES_DE, { ...HARBOR, platform })
  t.match(first?.id, /^[0-9a-f]{40}$/)
  t.equal(first?.id, second?.id)
  t.not(first?.id, elsewhere?.id)
})

t.test('every path inside the platform folder is preserved', async (t) => {
  const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .map((text) => text.replace(/[\\/\s]|\p{C}/gu, '_'))
    .filter((text) => text !== '.' && text !== '..' && text !== '~' && !/^[a-z]:$/i.test(text))
  fc.assert(fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), (parts) => {
    const path = parts.join('/')
    const { byPath, byName } = parseGamelist(createGame(`./${path}`), FILE)
    return byPath.has(path) && byName.has(parts.at(-1) ?? '')
  }))
  t.end()
})

t.test('no path of an entry or its media leaves the library', async (t) => {
  const part = fc.constantFrom('..', '.', 'a', 'covers', '', '~', 'C:', '..\\..')
  const path = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => `${parts.join('/')}/x.png`)
  await fc.assert(fc.asyncProperty(path, path, async (cover, own) => {
    const ctx = createContext(createLibrary(createGame(own, { cover }), 'x.png', 'a/x.png', `${FOLDER}/covers/x.png`))
    const match = await identify({ fs_name: 'x.png' }, ctx)
    for (const { url } of match?.media ?? []) t.match(url, /^file:\/\/(?:roms\/snes\/covers\/|a\/)?x\.png$/)
  }))
})
