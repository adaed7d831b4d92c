import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import t from 'tap'
import type { ExportGame } from '@svc/plugin-sdk'
import { testExporter } from '@svc/plugin-sdk/testing'
import exporter from '../src/index.ts'
import { chooseMedia } from '../src/media.ts'
import { renderGamelist } from '../src/render.ts'
import { readGames } from './reader.ts'

const CHOICE = chooseMedia({}, { warn: () => t.fail('the defaults are allowed') })

function createGame (fields: Partial<ExportGame> = {}): ExportGame {
  const path = fields.path ?? 'Tide.nes'
  return {
    rom_id: 1,
    path,
    fs_name: path.slice(path.lastIndexOf('/') + 1),
    fs_name_no_tags: 'Tide',
    name: 'Tide',
    summary: null,
    tags: [],
    player_count: null,
    first_release_date: null,
    average_rating: null,
    genres: [],
    franchises: [],
    companies: [],
    developers: [],
    publishers: [],
    regions: [],
    languages: [],
    media: {},
    ...fields
  }
}

const LANTERN = createGame({
  rom_id: 2,
  path: 'Hacks/Lantern Keeper (USA).nes',
  name: 'Lantern Keeper',
  summary: 'A light & a rock.\r\nNo ship is lost.',
  average_rating: 81.6,
  first_release_date: Date.UTC(1987, 3, 12, 15, 30),
  companies: ['Quay Soft', 'Harbor House'],
  genres: ['Adventure', 'Puzzle'],
  player_count: '1-2',
  media: {
    screenshot: 'screenshots/Hacks/Lantern Keeper (USA).png', cover: 'covers/Hacks/Lantern Keeper (USA).png'
  }
})
const GAMES = [LANTERN, createGame()]

function render (games: readonly ExportGame[], existing: string | null = null): string {
  return renderGamelist(games, existing, CHOICE).text
}

function renderAround (inner: string, game: ExportGame = createGame()): string {
  return render([game], `<gameList>\n  <game>\n    <path>./Tide.nes</path>\n${inner}  </game>\n</gameList>\n`)
}

async function readFixture (name: string): Promise<string> {
  return readFile(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
}

t.test('conforms', async (t) => testExporter(t, exporter, {
  packageUrl: new URL('../package.json', import.meta.url),
  config: { media: { thumbnail: 'box2d', image: 'screenshot' } },
  existing: {
    text: await readFixture('played.xml'),
    keeps: ['<!-- sorted by hand, please keep -->', '<alternativeEmulator>', '<playcount>12</playcount>', './Gone (Japan).nes']
  },
  unparsable: '<gameList><game><name>Salt & Pepper</name></game></gameList>',
  read: (text) => readGames(text).map(({ path = '', name = '' }) => ({ path: path.replace(/^\.\//, ''), name }))
}))

t.test('the exporter declares its file, its route and one folder per media kind', async (t) => {
  t.match(exporter.definition, { key: 'gamelist', fileName: 'gamelist.xml', route: 'gamelist-xml' })
  t.equal(exporter.definition.media.cover, 'covers')
})

t.test('a new file has every known element in order', async (t) => {
  t.equal(render(GAMES), await readFixture('new.expected.xml'))
})

t.test('a used file keeps all content of others in its place', async (t) => {
  t.equal(render(GAMES, await readFixture('played.xml')), await readFixture('played.expected.xml'))
})

t.test('a second export changes no byte', async (t) => {
  for (const name of ['played.expected.xml', 'new.expected.xml']) {
    const text = await readFixture(name)
    t.equal(render(GAMES, text), text)
    t.equal(render(GAMES.toReversed(), text), text, 'whatever the order of the games')
  }
})

t.test('an empty file counts as none', async (t) => {
  for (const existing of ['', ' \n', '\uFEFF']) t.equal(render(GAMES, existing), render(GAMES))
})

t.test('a platform without games yields an empty list for later games', async (t) => {
  const empty = render([])
  t.equal(empty, '<?xml version="1.0" encoding="UTF-8"?>\n<gameList>\n</gameList>\n')
  t.equal(render(GAMES, empty), render(GAMES))
})

t.test('a list in one tag or on one line accepts new games', async (t) => {
  const game = '\n  <game>\n    <path>./Tide.nes</path>\n    <name>Tide</name>\n  </game>\n</gameList>'
  t.equal(render([createGame()], '<gameList parentHash="1" />'), `<gameList parentHash="1">${game}`)
  const declaration = '<?xml version="1.0"?>\n<!-- mine -->\n'
  t.equal(render([createGame()], `${declaration}<gameList/>`), `${declaration}<gameList>${game}`)
  t.equal(render([createGame()], '<gameList></gameList>'), `<gameList>${game}`)
  t.equal(render([createGame()], `${declaration}<gameList></gameList>`), `${declaration}<gameList>${game}`)
  t.equal(render([createGame({ genres: ['Action'] })], '<gameList><game><path>Tide.nes</path></game></gameList>'),
    '<gameList><game><path>./Tide.nes</path><name>Tide</name><genre>Action</genre></game></gameList>')
})

t.test('a file with only ES-DE\'s emulator choice gets the list after it', async (t) => {
  const choice = '<?xml version="1.0"?>\n<alternativeEmulator>\n  <label>Mesen</label>\n</alternativeEmulator>\n'
  t.equal(render(GAMES, choice), choice + render(GAMES).slice(render(GAMES).indexOf('<gameList>')))
})

t.test('a file with Windows line ends keeps them', async (t) => {
  const text = render([createGame()]).replaceAll('\n', '\r\n')
  t.equal(render([createGame()], text), text)
  t.notMatch(render([createGame({ genres: ['Action'] }), createGame({ path: 'b.nes' })], text), /[^\r]\n/)
})

t.test('an entry is found by its normalized path', async (t) => {
  for (const path of ['./a/Tide.nes', 'a/Tide.nes', './/a/./Tide.nes', './b/../a/Tide.nes', '<![CDATA[./a/Tide.nes]]>']) {
    const text = render([createGame({ path: 'a/Tide.nes' })], `<gameList><game><path>${path}</path></game></gameList>`)
    t.strictSame(readGames(text).map((game) => game.path), ['./a/Tide.nes'], path)
  }
  for (const path of ['./Tide.nes', './A/Tide.nes', '/a/Tide.nes', '~/a/Tide.nes', '../a/Tide.nes']) {
    const text = render([createGame({ path: 'a/Tide.nes' })], `<gameList><game><path>${path}</path></game></gameList>`)
    t.strictSame(readGames(text).map((game) => game.path), [path, './a/Tide.nes'], path)
  }
})

t.test('an entry with the backslashes of Windows belongs to the ROM', async (t) => {
  const text = render([createGame({ path: 'a/Tide.nes' })], '<gameList><game><path>.\\a\\Tide.nes</path></game></gameList>')
  t.strictSame(readGames(text).map((game) => game.path), ['./a/Tide.nes'])
  const named = '<gameList><game><path>./a\\Tide.nes</path></game></gameList>'
  t.strictSame(readGames(render([createGame({ path: 'a\\Tide.nes' })], named)).map((game) => game.path), ['./a\\Tide.nes'])
})

t.test('a genre text that begins with the game\'s genre stays, others are replaced', async (t) => {
  const genreOf = (text: string) => [...renderAround(`    <genre>${text}</genre>\n`, createGame({ genres: ['Role-Playing'] }))
    .matchAll(/<genre>(.*)<\/genre>/g)].map(([, genre]) => genre).join()
  for (const text of ['Role-Playing', 'Role-Playing-Race, Driving', 'Role-Playing, Action', 'Role-Playing / Tactics']) {
    t.equal(genreOf(text), text)
  }
  for (const text of ['Role', 'Action-Role-Playing', 'Role-Playings', '']) t.equal(genreOf(text), 'Role-Playing')
})

t.test('an entry for a game\'s folder becomes one for the file that starts it', async (t) => {
  const game = createGame({ path: 'Tide/Tide.m3u', fs_name: 'Tide' })
  const before = '<gameList>\n  <game>\n    <path>./Tide</path>\n    <favorite>true</favorite>\n  </game>\n</gameList>\n'
  const after = render([game], before)
  t.match(readGames(after), [{ path: './Tide/Tide.m3u' }])
  t.match(after, '<favorite>true</favorite>')
  t.equal(render([game], after), after)
  const both = before.replace('</gameList>', '  <game><path>./Tide/Tide.m3u</path></game>\n</gameList>')
  t.match(render([game], both), '<path>./Tide</path>', 'a folder beside its file is another entry')
})

t.test('the entry of a renamed file follows it, with what people added', async (t) => {
  const game = createGame({ path: 'b/Tide (USA).nes', former_path: 'Tide.nes', genres: ['Action'] })
  const before = '<gameList>\n  <game id="7">\n    <path>./Tide.nes</path>\n    <!-- mine -->\n    <favorite>true</favorite>\n' +
    '  </game>\n  <game><path>./Other.nes</path></game>\n</gameList>\n'
  const after = render([game], before)
  t.strictSame(readGames(after).map(({ path }) => path), ['./b/Tide (USA).nes', './Other.nes'])
  t.match(after, '<game id="7">\n    <path>./b/Tide (USA).nes</path>\n    <!-- mine -->\n    <favorite>true</favorite>\n    <name>Tide')
  t.equal(render([game], after), after)
})

t.test('a name of a person stays if the library knows only that of the file', async (t) => {
  const unnamed = { is_named: false }
  const own = '    <name>Tide, my way</name>\n'
  t.match(renderAround(own, createGame(unnamed)), own)
  t.match(renderAround(own), '<name>Tide</name>', 'a name that the library knows')
  for (const empty of ['<name/>', '<name></name>']) t.match(renderAround(empty, createGame(unnamed)), '<name>Tide</name>')
  const moved = createGame({ ...unnamed, path: 'Storm (USA).nes', name: 'Storm', former_path: 'Tide.nes' })
  t.match(renderAround('    <name>Tide</name>\n', moved), '<name>Storm</name>', 'the name of the former file')
  t.match(renderAround(own, moved), own)
})

t.test('an entry for the new path takes what the one for the former path has besides', async (t) => {
  const game = createGame({ path: 'New.nes', former_path: 'Tide.nes' })
  const before = '<gameList>\n  <game>\n    <path>./Tide.nes</path>\n    <name>Old</name>\n    <favorite>true</favorite>\n' +
    '    <playcount>5</playcount>\n  </game>\n  <game>\n    <path>./New.nes</path>\n    <playcount>1</playcount>\n  </game>\n</gameList>\n'
  t.equal(render([game], before), '<gameList>\n  <game>\n    <path>./New.nes</path>\n    <playcount>1</playcount>\n' +
    '    <name>Tide</name>\n    <favorite>true</favorite>\n  </game>\n</gameList>\n')
})

t.test('two entries for one ROM are both updated and kept', async (t) => {
  const entry = '<game><path>./Tide.nes</path><name>Old</name></game>'
  const [first, second, ...others] = readGames(render([createGame()], `<gameList>${entry}${entry}</gameList>`))
  t.equal(first?.name, 'Tide')
  t.equal(second?.name, 'Tide')
  t.strictSame(others, [])
})

t.test('an equal text keeps its bytes, and only a genre may go on after it', async (t) => {
  const listOf = (name: string) => `<gameList>\n  <game>\n    <path>./Tide.nes</path>\n    <name>${name}</name>\n  </game>\n</gameList>\n`
  for (const name of ['<![CDATA[Tide]]>', 'T&#105;de']) t.equal(render([createGame()], listOf(name)), listOf(name))
  for (const name of ['Tide - Ebb', 'Wave, too', 'Tide']) {
    t.equal(render([createGame({ name: 'Flow' })], listOf(name)), listOf('Flow'))
    t.equal(render([createGame()], listOf(name)), listOf('Tide'))
  }
})

t.test('new games follow the indentation of the first one', async (t) => {
  const flat = '<gameList>\n<game>\n<path>./a.nes</path>\n</game>\n</gameList>\n'
  t.match(render([createGame()], flat), '\n<game>\n<path>./Tide.nes</path>\n<name>Tide</name>\n</game>\n</gameList>\n')
  const empty = flat.replace('\n<path>./a.nes</path>\n', '')
  t.match(render([createGame()], empty), '\n<game>\n  <path>./Tide.nes</path>\n  <name>Tide</name>\n</game>\n')
  t.match(render([createGame()], empty.replace('<game>', '\t<game>')), '\n\t<game>\n\t\t<path>./Tide.nes</path>\n')
})

t.test('an unknown element keeps the user\'s text', async (t) => {
  t.match(renderAround('    <desc>Mine.</desc>\n'), '<desc>Mine.</desc>')
  t.match(renderAround('    <desc>Mine.</desc>\n', createGame({ summary: 'Ours.' })), '<desc>Ours.</desc>')
})

t.test('repeats of an exported element are removed', async (t) => {
  const text = renderAround('    <genre>Old</genre>\n    <playcount>2</playcount>\n    <genre>Older</genre>\n',
    createGame({ genres: ['Action'] }))
  t.match(text, '    <genre>Action</genre>\n    <playcount>2</playcount>\n    <name>')
  t.notMatch(text, 'Older')
})

t.test('an element of a removed medium is removed, a user\'s own stays', async (t) => {
  const text = renderAround('    <image>./screenshots/Tide.jpg</image>\n    <video>./videos/Tide-video.mp4</video>\n' +
    '    <manual>./manuals/Tide.pdf</manual>\n    <thumbnail>~/.art/covers/Tide.png</thumbnail>\n')
  t.notMatch(text, 'screenshots')
  t.notMatch(text, 'manuals')
  const folder = '<game><path>./Tide v1.2</path><image>./covers/Tide v1.2.png</image></game>'
  t.notMatch(render([createGame({ path: 'Tide v1.2' })], `<gameList>${folder}</gameList>`), 'image')
  t.match(text, '<video>./videos/Tide-video.mp4</video>\n    <thumbnail>~/.art/covers/Tide.png</thumbnail>')
})

t.test('an element of a file that exists stays', async (t) => {
  const own = '<game><path>./Tide.nes</path><video>./videos/Tide.mp4</video><image>./x/../covers/Tide.png</image></game>'
  const text = render([createGame({ media_files: ['videos/Tide.mp4', 'covers/Tide.png'] })], `<gameList>${own}</gameList>`)
  t.match(text, '<video>./videos/Tide.mp4</video><image>./x/../covers/Tide.png</image>')
})

t.test('companies replace a missing developer or publisher', async (t) => {
  const [named] = readGames(render([createGame({ companies: ['A', 'B'], developers: ['D'], publishers: ['P'] })]))
  t.match(named, { developer: 'D', publisher: 'P' })
  const [single] = readGames(render([createGame({ companies: ['A'] })]))
  t.match(single, { developer: 'A', publisher: undefined })
})

t.test('dates and ratings out of range are dropped or bounded', async (t) => {
  const read = (fields: Partial<ExportGame>) => readGames(render([createGame(fields)]))[0]
  t.equal(read({ first_release_date: Date.UTC(995, 0, 2) })?.releasedate, '09950102T000000')
  t.equal(read({ first_release_date: 0 })?.releasedate, '19700101T000000')
  t.equal(read({ first_release_date: -1e14 })?.releasedate, undefined)
  t.equal(read({ first_release_date: 9e15 })?.releasedate, undefined)
  t.equal(read({ average_rating: 140 })?.rating, '1.00')
  t.equal(read({ average_rating: Number.NaN })?.rating, undefined)
})

t.test('the configured pictures are used, with fallbacks', async (t) => {
  const media = { cover: 'covers/T.png', screenshot: 'screenshots/T.png', miximage: 'miximages/T.png' }
  const config = { thumbnail: 'miximage', image: 'box2d' }
  const choice = chooseMedia(config, { warn: () => t.fail('both kinds are allowed') })
  const [full] = readGames(renderGamelist([createGame({ media })], null, choice).text)
  t.match(full, { thumbnail: './miximages/T.png', image: './covers/T.png', mix: './miximages/T.png' })
  const { miximage, ...few } = media
  const [fallback] = readGames(renderGamelist([createGame({ media: few })], null, choice).text)
  t.match(fallback, { thumbnail: './covers/T.png', mix: undefined }, `no ${miximage}`)
})

t.test('a picture kind that is not allowed is logged and replaced by the default', async (t) => {
  const warnings: object[] = []
  const choice = chooseMedia({ thumbnail: 'poster' }, { warn: (fields) => { warnings.push(fields) } })
  t.strictSame(choice, CHOICE)
  t.match(warnings, [{ setting: 'scan.gamelist.media.thumbnail', value: 'poster', used: 'box2d' }])
})

t.test('a file that cannot be parsed is refused with a remedy', async (t) => {
  const refused: [string, RegExp][] = [
    ['<!DOCTYPE gameList><gameList/>', /DOCTYPE.*Delete that line/],
    ['<?xml version="1.0"?>\n<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<gameList/>', /DOCTYPE/],
    ['<gameList>\n<game><name>A & B</name></game></gameList>', /2:\d+.*move the file away/],
    ['<gameList><game>', /unclosed tag: game\. Correct it/],
    ['<gameList/> and more', /text outside.*Correct it/],
    ['<datafile><game/></datafile>', /"datafile".*Move the file away/],
    ['<?xml version="1.0" encoding="ISO-8859-1"?><gameList/>', /"ISO-8859-1".*Save it as UTF-8/],
    ['<gameList>\u0001</gameList>', /disallowed character/]
  ]
  for (const [text, message] of refused) t.throws(() => render(GAMES, text), { message })
})

t.test('a ROM with an invalid path and a duplicate path are skipped', async (t) => {
  const { text, skipped } = renderGamelist(
    [createGame(), createGame({ rom_id: 8, path: 'bell\u0007.nes' }), createGame({ rom_id: 9 })], null, CHOICE
  )
  t.match(skipped, [{ rom_id: 8, reason: /Rename the file/ }, { rom_id: 9, reason: /"Tide.nes"/ }])
  t.equal(readGames(text).length, 1)
})

/** Any character. The `binary` of fast-check would first build a table of all million characters. */
const character = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))
const anyText = fc.string({ unit: character, maxLength: 40 })
const anyName = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  // eslint-disable-next-line no-control-regex
  .filter((name) => !/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff/]/.test(name) && name !== '.' && name !== '..')
const anyPath = fc.array(anyName, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
const anyGenres = fc.array(anyText, { maxLength: 2 })
const anyGame = fc.record({ path: anyPath, name: anyText, summary: anyText, genres: anyGenres })
  .map((fields) => createGame({ ...fields, media: { cover: `covers/${fields.path}.png` } }))
const anyGames = fc.uniqueArray(anyGame, { selector: ({ path }) => path, maxLength: 5 })

function printable (text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\r\n?/g, '\n').replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu, '').trim()
}

function oneLine (text: string): string {
  return printable(text).replace(/\s*\n\s*/g, ' ')
}

t.test('a reader gets any titles, texts and paths back', async () => {
  fc.assert(fc.property(anyGames, (games) => {
    const text = render(games)
    assert.deepEqual(readGames(text).map(({ path, thumbnail }) => ({ path, thumbnail })),
      games.map(({ path }) => ({ path: `./${path}`, thumbnail: `./covers/${path}.png` })))
    readGames(text).forEach((read, index) => {
      const [title = '', fileName = ''] = [games[index]?.name, games[index]?.fs_name].map((name) => oneLine(name ?? ''))
      assert.equal(read.name ?? '', title || fileName)
      assert.equal(read.desc ?? '', printable(games[index]?.summary ?? ''))
    })
    assert.equal(render(games, text), text)
  }))
})

const escapedText = anyText.map((text) => printable(text).replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`))
const addition = fc.oneof(
  escapedText.map((text) => `<!--${text.replaceAll('-', '')}-->`),
  fc.tuple(fc.constantFrom('playcount', 'favorite', 'altemulator', 'x-mine'), escapedText)
    .map(([name, text]) => `<${name} by="user"><in><![CDATA[${text}]]></in>${text}</${name}>`),
  fc.constantFrom('<scrap  name = "HfsDB"/>', '\n\n', '\t<hidden>true</hidden>\r\n')
)
const additions = fc.array(addition, { maxLength: 3 }).map((parts) => parts.join(''))

t.test('any additions of users survive the next export', async () => {
  fc.assert(fc.property(anyGames, anyGames, additions, additions, (before, after, inside, between) => {
    const edited = render(before)
      .replaceAll('</game>', () => `${inside}</game>`).replaceAll('<game>', () => `${between}<game>`)
    const paths = new Set(before.map(({ path }) => path))
    const kept = readGames(edited).length
    const text = render(after, edited)
    for (const added of [inside, between].filter((part) => part !== '')) {
      assert.ok(text.split(added).length >= edited.split(added).length, JSON.stringify(added))
    }
    assert.equal(readGames(text).length, kept + after.filter(({ path }) => !paths.has(path)).length)
    assert.equal(render(after, text), text)
  }))
})

/** Elements that belong to no ROM: without a path, folders, and paths that no ROM has. */
const oddEntry = fc.constantFrom('<game><name>Only a name</name></game>', '<game/>', '<game><path></path></game>', '<game><path/></game>',
  '<game><path>.</path></game>', '<game><path>../Tide.nes</path></game>', '<game><path>/roms/Tide.nes</path></game>',
  '<game><path>~/Tide.nes</path></game>', '<folder><path>./Tide</path><favorite>true</favorite></folder>',
  '<folder><path>./Tide.nes</path></folder>', '<game id="3" source="x"><path>C:\\roms\\Tide.nes</path></game>', '<provider><System>NES</System></provider>')

t.test('entries that belong to no ROM stay once, and every ROM has one entry', async () => {
  fc.assert(fc.property(anyGames, fc.uniqueArray(oddEntry), fc.boolean(), (games, odd, isFirst) => {
    const before = render(isFirst ? [] : games).replace('</gameList>', () => `${odd.join('\n')}</gameList>`)
    const text = render(games, before)
    for (const entry of odd) assert.equal(text.split(entry).length, before.split(entry).length, entry)
    const paths = readGames(text).map(({ path = '' }) => path)
    for (const { path } of games) assert.equal(paths.filter((one) => one === `./${path}`).length, 1, path)
    assert.equal(render(games, text), text)
  }))
})
