import { mkdir, symlink } from 'node:fs/promises'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import { createXmlElement, renderXml } from '@svc/plugin-sdk/xml'
import { FileAbsentError } from '../../../plugins/imports/contract.ts'
import { normalizePath, readEntries } from '../../../plugins/imports/gamelist/entries.ts'
import { openGamelists } from '../../../plugins/imports/gamelist/open.ts'
import { createContext, listAll, readFile } from './support.ts'

const game = (fields: Record<string, string>, attributes: Record<string, string> = {}) =>
  createXmlElement('game', Object.entries(fields).map(([name, text]) => createXmlElement(name, text)), attributes)
const gamelist = (...games: ReturnType<typeof game>[]) => renderXml(createXmlElement('gameList', games), { declaration: true })

const BATOCERA = gamelist(
  game({
    path: './Chrono.sfc', name: 'Chrono & more', desc: 'First\nSecond', rating: '0.95', favorite: 'true', playcount: '12',
    lastplayed: '20260102T030405', gametime: '3600', hidden: 'true', thumbnail: './images/Chrono-thumb.png', video: '../../etc/passwd',
    manual: '~/manual.pdf', crc32: 'DEADBEEF', md5: 'nonsense', cheevosId: '319'
  }, { id: '4711', source: 'ScreenScraper.fr' }),
  game({ path: '.\\Discs\\Discs.m3u', name: 'Discs', lastplayed: 'not-a-date-time', playcount: '0', rating: '0.000000' }),
  game({ path: './Discs/disc 1.chd', favorite: 'true' }),
  game({ path: './Hacks/One.sfc' }),
  game({ path: './Hacks/Two.sfc' }),
  game({ path: '../psx/Away.bin' }),
  game({ path: '/userdata/roms/snes/Absolute.sfc', favorite: 'yes' }),
  game({ name: 'no path' })
)

t.test('Batocera and RetroBat keep gamelist.xml and media beside the ROMs', async (t) => {
  const folder = t.testdir({
    roms: { snes: { 'gamelist.xml': BATOCERA, images: { 'Chrono-thumb.png': 'box' } }, empty: {}, broken: { 'gamelist.xml': '<gameList><game>' } },
    work: {}
  })
  const context = createContext(`${folder}/work`)
  const importer = await openGamelists({ folder: `${folder}/roms` }, context)
  const all = await listAll(importer)

  t.equal(importer.identity, `gamelist:${folder}/roms`)
  t.match(importer.absent, { asset: String, play_session: String })
  t.strictSame(all.platform.map(({ id }) => id), ['broken', 'snes'])
  t.match(all.rom, [
    { id: 'snes/Absolute.sfc', fs_name: 'Absolute.sfc', name: null, cover: null },
    {
      id: 'snes/Chrono.sfc', platform_id: 'snes', name: 'Chrono & more', summary: 'First\nSecond', crc: 'deadbeef', md5: null,
      provider_ids: { ss: '4711', ra: '319' }, locked: [], manual: null,
      cover: { file: { path: 'roms/snes/images/Chrono-thumb.png' }, url: 'file://snes/images/Chrono-thumb.png' }
    },
    { id: 'snes/Discs', fs_name: 'Discs', name: 'Discs' }
  ])
  t.strictSame(all.rom[1]?.media, {}, 'a path out of the system\'s folder is no medium')
  t.match(all.mark, [{
    rom_id: 'snes/Chrono.sfc', user_id: null, rating: 10, last_played: '2026-01-02T03:04:05Z', hidden: true, status: null
  }], 'a game without marks has none')
  t.equal(all.mark.length, 1)
  t.match(all.collection, [{ is_favorite: true, user_id: null, rom_ids: ['snes/Absolute.sfc', 'snes/Chrono.sfc'] }])
  t.equal(await readFile(importer, all.rom[1]?.cover?.file), 'box')
  t.match(context.skipped, [
    { kind: 'rom', name: 'snes: ../psx/Away.bin', reason: /no file in the system/ },
    { kind: 'rom', name: 'snes: no path', reason: 'its entry has no path' },
    { kind: 'rom', name: 'snes: Hacks', reason: /has 2 games, and is one ROM here/ },
    { kind: 'play_session', id: 'snes/Chrono.sfc', name: 'snes: Chrono.sfc', reason: /^12 plays, 1 h 0 min in all/ }
  ])
  t.equal(context.skipped.length, 4, 'each is reported once')
  t.match(context.warnings, [/games of broken were left out: broken\/gamelist\.xml, line 1/])
})

t.test('ES-DE keeps gamelists and media in folders of its own', async (t) => {
  const folder = t.testdir({
    roms: { snes: { 'gamelist.xml': gamelist(game({ path: './Former.sfc' })) } },
    gamelists: {
      snes: {
        'gamelist.xml': `<?xml version="1.0"?>\n<alternativeEmulator>\n  <label>A & B</label>\n</alternativeEmulator>\n${
          gamelist(game({ path: './sub/Game.v1.sfc', completed: 'true' }), game({ path: './Plain.sfc' })).replace(/^.*\n/, '')}`
      }
    },
    media: {
      snes: {
        covers: { sub: { 'Game.v1.jpg': 'cover', 'Game.v1.txt': 'no picture' } },
        manuals: { 'Plain.pdf': 'manual' },
        videos: { 'Plain.mp4': 'film' }
      }
    },
    secret: { 'Plain.png': 'secret' },
    work: {}
  })
  await mkdir(`${folder}/media/snes/screenshots`)
  await symlink(`${folder}/secret/Plain.png`, `${folder}/media/snes/screenshots/Plain.png`)
  await symlink(`${folder}/secret`, `${folder}/media/snes/marquees`)
  const context = createContext(`${folder}/work`)
  const importer = await openGamelists({ folder: `${folder}/roms`, gamelists: `${folder}/gamelists`, media: `${folder}/media` }, context)
  const all = await listAll(importer)

  t.match(all.rom, [
    { fs_name: 'Plain.sfc', cover: null, manual: { file: { path: 'media/snes/manuals/Plain.pdf' }, url: null }, screenshots: [] },
    { fs_name: 'sub', cover: { file: { path: 'media/snes/covers/sub/Game.v1.jpg' }, url: null } }
  ], 'files behind links are no media')
  t.strictSame(Object.keys(all.rom[0]?.media ?? {}), ['video'])
  t.match(all.mark, [{ rom_id: 'snes/sub', status: 'finished' }])
  t.strictSame(all.collection, [], 'without favourites there is no collection')
  t.equal(await readFile(importer, all.rom[0]?.manual?.file), 'manual')
  for (const path of ['media/snes/marquees/Plain.png', 'media/../secret/Plain.png', 'roms/absent', 'elsewhere/x']) {
    await t.rejects(importer.open({ path, size_bytes: null }), FileAbsentError, path)
  }
})

t.test('a folder without gamelists is refused with a remedy', async (t) => {
  const folder = t.testdir({ roms: { snes: {} }, file: '' })
  const context = createContext(folder)
  await t.rejects(openGamelists({ folder: `${folder}/roms` }, context), /has a gamelist\.xml\. Name the folder/)
  await t.rejects(openGamelists({ folder: `${folder}/absent` }, context), /of --folder cannot be read: ENOENT/)
  await t.rejects(openGamelists({ folder: `${folder}/roms`, media: `${folder}/file` }, context), /of --media cannot be read: it is no folder/)
})

t.test('no path leaves its folder', async (t) => {
  const part = fc.constantFrom('..', '.', '', 'a', '~', 'C:', ' ', '...', '\0', '\\', '/')
  fc.assert(fc.property(fc.array(part), fc.constantFrom('/', '\\'), (parts, separator) => {
    const path = normalizePath(parts.join(separator))
    if (path === null) return
    t.notMatch(path, /^\/|^\.\.?(?:\/|$)|\/\.\.(?:\/|$)|\0/)
    t.not(path, '')
  }))
})

t.test("ES-DE's choice of an emulator is skipped wherever the file is cut", async (t) => {
  const text = '<alternativeEmulator><label>A & B</label></alternativeEmulator><gameList><game><path>ä.sfc</path></game></gameList>'
  const bytes = Buffer.from(text)
  for (let at = 1; at < bytes.length; at++) {
    const entries = await Array.fromAsync(readEntries(Readable.from([bytes.subarray(0, at), bytes.subarray(at)]), 'gamelist.xml'))
    t.strictSame(entries.map(({ path }) => path), ['ä.sfc'], `cut at ${at}`)
  }
})

t.test('only a number of ScreenScraper is an id there', async (t) => {
  const idOf = async (id: string, source: string) => {
    const [entry] = await Array.fromAsync(readEntries(Readable.from([Buffer.from(gamelist(game({ path: 'a.sfc' }, { id, source })))]), 'x'))
    return entry !== undefined && 'screenScraperId' in entry ? entry.screenScraperId : undefined
  }
  t.equal(await idOf('4711', 'ScreenScraper'), '4711')
  for (const id of ['0', '047', '-1', 'x', '', '1'.repeat(17)]) t.equal(await idOf(id, 'ScreenScraper.fr'), null, id)
  for (const source of ['', 'screenscrapers', 'thegamesdb']) t.equal(await idOf('4711', source), null, source)
})
