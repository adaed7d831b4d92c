import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import t from 'tap'
import type { ExportGame, ExportPlatform } from '@svc/plugin-sdk'
import { testExporter } from '@svc/plugin-sdk/testing'
import exporter from '../src/index.ts'
import { renderPegasus } from '../src/render.ts'
import { readGames } from './reader.ts'

const NES: ExportPlatform = { slug: 'nes', fs_slug: 'nes', name: 'Famiclone' }
const LAUNCH = 'retroarch -L core.so "{file.path}"'

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
  path: 'Hacks/Lantern Keeper (USA) (Rev 1).nes',
  fs_name_no_tags: 'Lantern Keeper, The',
  name: 'Lantern Keeper',
  summary: 'A light & a rock.\r\nNo ship is lost in C:\\new.\n\nThe end.\n',
  average_rating: 81.6,
  first_release_date: Date.UTC(1987, 3, 12, 15, 30),
  companies: ['Quay Soft', 'Harbor House'],
  genres: ['Adventure', 'Puzzle'],
  tags: ['Rev 1'],
  regions: ['USA', 'Europe'],
  languages: ['English'],
  player_count: '1-2',
  media: {
    screenshot: 'screenshots/Hacks/Lantern Keeper (USA) (Rev 1).png',
    cover: 'covers/Hacks/Lantern Keeper (USA) (Rev 1).png'
  }
})
const GAMES = [LANTERN, createGame()]

function render (games: readonly ExportGame[], existing: string | null = null, launch: string | null = null): string {
  return renderPegasus(NES, games, existing, launch).text
}

async function readFixture (name: string): Promise<string> {
  return readFile(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
}

t.test('conforms', async (t) => testExporter(t, exporter, {
  packageUrl: new URL('../package.json', import.meta.url),
  config: { launch: { snes: LAUNCH } },
  existing: {
    text: await readFixture('edited.txt'),
    keeps: ['# the quotes matter\n', 'x-shelf: left\n', 'collection: Favourites\n', 'assets.poster: ./mine/poster.png\n']
  },
  unparsable: null,
  read: (text) => readGames(text).map(({ values }) => {
    return { path: (values.file?.[0] ?? '').replace(/^\.\//, ''), name: values.game?.[0] ?? '' }
  })
}))

t.test('the exporter declares its file and one folder per media kind', async (t) => {
  t.match(exporter.definition, { key: 'pegasus', fileName: 'metadata.pegasus.txt' })
  t.equal(exporter.definition.media.cover, 'covers')
})

t.test('a new file has the header and every known key in order', async (t) => {
  t.equal(render(GAMES, null, LAUNCH), await readFixture('new.expected.txt'))
})

t.test('an edited file keeps every line of others in its place', async (t) => {
  t.equal(render(GAMES, await readFixture('edited.txt'), LAUNCH), await readFixture('edited.expected.txt'))
})

t.test('a second export changes no byte', async (t) => {
  for (const name of ['new.expected.txt', 'edited.expected.txt']) {
    const text = await readFixture(name)
    t.equal(render(GAMES, text, LAUNCH), text)
    t.equal(render(GAMES.toReversed(), text, LAUNCH), text, 'whatever the order of the games')
  }
})

t.test('a file with one changed value gets that value, and one without a change stays', async (t) => {
  const text = render([createGame({ genres: ['Action'] })])
  t.equal(render([createGame({ genres: ['Puzzle'] })], text), text.replace('Action', 'Puzzle'))
  t.equal(render([createGame({ genres: ['Action'] })], text.trimEnd()), text.trimEnd(), 'without a last line end')
})

t.test('a key without a value is no value', async (t) => {
  const text = render([createGame({ summary: 'New.' })], 'collection: A\nshortname: nes\n\ngame: Tide\nfile: Tide.nes\nsummary:\ngame:\n')
  t.match(text, /^file: Tide\.nes\n(?:.+\n)*description: New\.$/m)
})

t.test('an empty file counts as none, and later games join a file without any', async (t) => {
  for (const existing of ['', ' \n', '\uFEFF']) t.equal(render(GAMES, existing), render(GAMES))
  t.equal(render(GAMES, render([])), render(GAMES))
})

t.test('a platform without a name in Pegasus keeps its own', async (t) => {
  const platform = { slug: 'my-console', fs_slug: 'mine', name: 'My Console' }
  t.equal(renderPegasus(platform, [], null, null).text, 'collection: My Console\nshortname: my-console\n')
  t.match(renderPegasus({ ...platform, slug: 'constructor' }, [], null, null).text, /^shortname: constructor$/m)
})

t.test('a launch command is written if missing and never changed', async (t) => {
  t.equal(render([], 'collection: NES', LAUNCH), `collection: NES\nshortname: nes\nlaunch: ${LAUNCH}\n`)
  const own = 'collection: NES\ncommand: mesen\nshortname: nes\n'
  t.equal(render([], own, LAUNCH), own)
})

t.test('new games join the collection with our short name, before the next one', async (t) => {
  const text = render([createGame()], 'collection: A\nshortname: a\n\ncollection: B\nshortname: NES\n\n# C\ncollection: C\n')
  t.strictSame(readGames(text).map(({ collections }) => collections), [['A', 'B']])
  t.match(text, 'x-svc-id: 1\n\n# C\ncollection: C\n')
})

t.test('a short name with capitals is found, too', async (t) => {
  const platform = { slug: 'MyConsole', fs_slug: 'MyConsole', name: 'My Console' }
  const text = 'collection: A\nshortname: a\n\ncollection: B\nshortname: MyConsole\n'
  t.strictSame(readGames(renderPegasus(platform, [createGame()], text, null).text).map(({ collections }) => collections), [['A', 'B']])
})

t.test('new games join the first collection if none has our short name', async (t) => {
  const text = render([createGame()], 'collection: A\n\ncollection: B\nshortname: b\n')
  t.strictSame(readGames(text).map(({ collections }) => collections), [['A']])
  t.match(text, /^collection: A\nshortname: nes\n/)
})

t.test('games without a collection get ours before them', async (t) => {
  const text = render([createGame()], '# by me\n\n# best\ngame: Other\nfile: o.nes\n')
  t.match(text, /^# by me\n\ncollection: Nintendo Entertainment System\nshortname: nes\n\n# best\ngame: Other\n/)
  t.equal(readGames(text).length, 2)
  t.equal(render([createGame()], text), text)
  t.match(render([createGame()], '\uFEFFgame: Other\nfile: o.nes'), /^\uFEFFcollection: /)
})

t.test('a file of comments keeps them, followed by the export', async (t) => {
  t.equal(render(GAMES, '# mine\n\n'), `# mine\n\n${render(GAMES)}\n`)
})

t.test('a game is found by its normalized path', async (t) => {
  for (const file of ['./a/Tide.nes', 'a/Tide.nes', './/a/./Tide.nes', 'b/../a/Tide.nes']) {
    t.equal(readGames(render([createGame({ path: 'a/Tide.nes' })], `game: Old\nfile: ${file}\n`)).length, 1, file)
  }
  for (const file of ['Tide.nes', 'A/Tide.nes', '/a/Tide.nes', '../a/Tide.nes', 'a:a/Tide.nes']) {
    t.equal(readGames(render([createGame({ path: 'a/Tide.nes' })], `game: Old\nfile: ${file}\n`)).length, 2, file)
  }
})

t.test('a game\'s folder is replaced by the file that starts it', async (t) => {
  const game = createGame({ path: 'Tide/Tide.m3u', fs_name: 'Tide' })
  const before = 'collection: Mine\nshortname: nes\n\ngame: Tide\nfile: ./Tide\nx-mine: 1\n'
  const after = render([game], before)
  t.match(after, /^file: \.\/Tide\/Tide\.m3u$/m)
  t.notMatch(after, /^file: \.\/Tide$/m)
  t.match(after, 'x-mine: 1')
  t.equal(after.match(/^game:/gm)?.length, 1)
  t.equal(render([game], after), after)
  const several = render([game], before.replace('file: ./Tide\n', 'files:\n  ./Tide\n  ./Other.nes\n'))
  t.match(several, /^ {2}\.\/Tide$/m)
  t.equal(several.match(/^game:/gm)?.length, 1)
})

t.test('the game of a renamed file follows it, with what people added', async (t) => {
  const game = createGame({ path: 'b/Tide $& (USA).nes', former_path: 'Tide.nes' })
  const before = 'collection: Mine\nshortname: nes\n\ngame: Tide\nfile: ./Tide.nes\nx-mine: 1\nx-svc-id: 1\n\ngame: Other\nfile: o.nes\n'
  const after = render([game], before)
  t.equal(after, before.replace('./Tide.nes', () => './b/Tide $& (USA).nes'))
  t.equal(render([game], after), after)
})

t.test('a title of a person stays if the library knows only the name of the file', async (t) => {
  const before = 'collection: Mine\nshortname: nes\n\ngame: Tide, my way\nfile: ./Tide.nes\nx-svc-id: 1\n'
  t.equal(render([createGame({ is_named: false })], before), before)
  t.match(render([createGame()], before), /^game: Tide$/m, 'a name that the library knows')
  const moved = createGame({ is_named: false, path: 'Storm (USA).nes', name: 'Storm', former_path: 'Tide.nes' })
  t.match(render([moved], before), /^game: Tide, my way$/m)
  t.match(render([moved], before.replace(', my way', '')), /^game: Storm$/m, 'the name of the former file')
})

t.test('a renamed file of a game with several keeps its place in the list', async (t) => {
  const games = [createGame({ path: '1.nes' }), createGame({ path: '2b.nes', former_path: '2.nes', rom_id: 2 })]
  const text = render(games, 'collection: Mine\nshortname: nes\n\ngame: Tide\nfiles: 1.nes\n  # second\n  2.nes\n  mine.nes\nx-svc-id: 1\n')
  t.match(text, 'files: 1.nes\n  # second\n  ./2b.nes\n  mine.nes\n')
  t.equal(text.match(/^game:/gm)?.length, 1)
})

t.test('a game of several files gets the data of the first one', async (t) => {
  const discs = [createGame({ path: '2.nes', name: 'Disc 2' }), createGame({ path: '1.nes', name: 'Disc 1' })]
  const text = render(discs, 'game: Both\nfiles:\n  1.nes\n  2.nes\n\ngame: Again\nfile: 2.nes\n')
  t.strictSame(readGames(text).map(({ values }) => values.game), [['Disc 1'], ['Again']])
  t.match(text, 'files:\n  1.nes\n  2.nes\n')
})

t.test('an unknown value keeps the user\'s text', async (t) => {
  const own = 'collection: A\nshortname: nes\n\ngame: Tide\nfile: Tide.nes\nsummary: Mine.\nplayers: 3\nx-svc-id: 1\n'
  t.equal(render([createGame()], own), own)
})

t.test('tags of the user are kept beside ours', async (t) => {
  const text = render([createGame({ tags: ['Beta', 'Rev 1'] })], 'game: T\nfile: Tide.nes\ntags: mine\n  Beta\nplayers: 1\n')
  t.match(text, 'tags: mine\n  Beta\ntag: Rev 1\nplayers: 1\n')
})

t.test('a removed asset goes, a user\'s own stays', async (t) => {
  const text = render([createGame()], 'game: T\nfile: Tide.nes\nassets.screenshots: screenshots/Tide.png\n' +
    'assets.logo: ./wheels/Tide.png\nassets.video: https://video.example/videos/Tide.mp4\n')
  t.notMatch(text, 'screenshots')
  const folder = 'game: T\nfile: Tide v1.2\nassets.box: ./covers/Tide v1.2.png\n'
  t.notMatch(render([createGame({ path: 'Tide v1.2' })], folder), 'assets')
  t.match(text, 'assets.logo: ./wheels/Tide.png\nassets.video: https://video.example/videos/Tide.mp4\n')
})

t.test('an asset whose file exists stays', async (t) => {
  const own = 'game: T\nfile: Tide.nes\nassets.video: ./videos/Tide.mp4\nassets.logo: marquees/Tide.png\n'
  const text = render([createGame({ media_files: ['videos/Tide.mp4', 'marquees/Tide.png'] })], own)
  t.match(text, 'assets.video: ./videos/Tide.mp4\nassets.logo: marquees/Tide.png\n')
})

t.test('a file with Windows line ends keeps them', async (t) => {
  const text = render(GAMES).replaceAll('\n', '\r\n')
  t.equal(render(GAMES, text), text)
  t.notMatch(render([...GAMES, createGame({ path: 'b.nes' })], text), /[^\r]\n/)
})

t.test('dates, ratings and players out of range are dropped or bounded', async (t) => {
  const read = (fields: Partial<ExportGame>) => readGames(render([createGame(fields)]))[0]?.values ?? {}
  t.strictSame(read({ first_release_date: Date.UTC(995, 0, 2) }).release, ['0995-01-02'])
  t.strictSame(read({ first_release_date: 9e15 }).release, undefined)
  t.strictSame(read({ average_rating: 140 }).rating, ['100%'])
  t.strictSame(read({ average_rating: Number.NaN }).rating, undefined)
  t.strictSame(read({ player_count: '1 - 4' }).players, ['1-4'])
  t.strictSame(read({ player_count: 'many' }).players, undefined)
})

t.test('a marquee is written if its file differs from the logo', async (t) => {
  const read = (media: ExportGame['media']) => readGames(render([createGame({ media })]))[0]?.values['assets.marquee']
  t.strictSame(read({ logo: 'marquees/T.png', marquee: 'marquees/T.png' }), undefined)
  t.strictSame(read({ logo: 'marquees/T.png', marquee: 'marquees/T.jpg' }), ['./marquees/T.jpg'])
  t.strictSame(read({ marquee: 'marquees/T.png' }), ['./marquees/T.png'])
})

t.test('a game in a folder whose file ends with a space is skipped', async (t) => {
  const { text, skipped } = renderPegasus(NES, [createGame({ rom_id: 1, path: 'Game/disc.cue ', fs_name: 'Game' })], null, null)
  t.match(skipped, [{ rom_id: 1, reason: /^The name "disc\.cue " begins or ends with a space/ }])
  t.notMatch(text, /disc/)
})

t.test('a ROM that the format cannot hold and a duplicate path are skipped', async (t) => {
  const games = [' a.nes', 'a.nes ', 'b\u00a0', 'c\nd.nes', 'Tide.nes', 'Tide.nes']
    .map((path, index) => createGame({ path, rom_id: index }))
  const { text, skipped } = renderPegasus(NES, games, null, null)
  t.strictSame(skipped.map((skip) => skip.rom_id), [0, 1, 2, 3, 5])
  t.match(skipped[0]?.reason, /" a.nes" begins or ends with a space.*Rename/)
  t.match(skipped[3]?.reason, /"c\\nd.nes" has a line break/)
  t.equal(readGames(text).length, 1)
})

/** Any character. The `binary` of fast-check would first build a table of all million characters. */
const character = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))
const anyText = fc.oneof(
  fc.string({ unit: character, maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('\\', 'n', '\n', '\r', '.', ' ', ':', '#', 'a'), maxLength: 12 })
)
const anyName = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((name) => name === name.trim() && !/[\0\r\n/]/.test(name) && name !== '.' && name !== '..')
const anyPath = fc.array(anyName, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
const anyGenres = fc.array(anyText, { maxLength: 3 })
const anyGame = fc.record({ path: anyPath, name: anyText, summary: anyText, genres: anyGenres, tags: anyGenres })
  .map((fields) => createGame({ ...fields, media: { cover: `covers/${fields.path}.png` } }))
const anyGames = fc.uniqueArray(anyGame, { selector: ({ path }) => path, maxLength: 5 })

function oneLine (text: string): string {
  return text.toWellFormed().replaceAll('\0', '').replace(/[\r\n]+/g, ' ').trim()
}

/** Adds a space after a backslash that ends a line, the only change in a decoded description. */
function shown (text: string): string {
  return text.toWellFormed().replaceAll('\0', '').replace(/\r\n?/g, '\n').trim().replace(/\\\n/g, '\\ \n')
}

t.test('a reader gets any titles, texts and paths back', async () => {
  fc.assert(fc.property(anyGames, (games) => {
    const text = render(games)
    const read = readGames(text)
    assert.deepEqual(read.map(({ values }) => values.file), games.map(({ path }) => [`./${path}`]))
    for (const [index, { path, name, fs_name: fileName, summary, genres }] of games.entries()) {
      const game = read[index]
      assert.deepEqual(game?.values.game, [oneLine(name) || fileName])
      assert.deepEqual(game.values.genre ?? [], genres.map(oneLine).filter((genre) => genre !== ''))
      assert.deepEqual(game.values['assets.box'], [`./covers/${path}.png`])
      assert.equal(game.description, shown(summary ?? ''))
    }
    assert.equal(render(games, text), text)
  }))
})

const userLines = fc.array(fc.constantFrom(
  '# a comment', 'x-mine: 1', '  continued', '', 'nonsense', 'assets.poster: p.png', 'launch: mine', 'workdir: /tmp',
  'tag: my'
), { maxLength: 5 })
const places = fc.array(fc.tuple(fc.nat(), userLines), { maxLength: 6 })

function isSubsequence (part: readonly string[], whole: readonly string[]): boolean {
  let at = 0
  for (const line of whole) if (line === part[at]) at++
  return at === part.length
}

t.test('any additions of users survive the next export in order', async () => {
  fc.assert(fc.property(anyGames, anyGames, places, (before, after, added) => {
    const lines = render(before).split('\n')
    for (const [place, extra] of added) lines.splice(place % lines.length, 0, ...extra)
    const text = render(after, lines.join('\n'))
    const marks = /^(# a|x-mine|nonsense|assets\.poster|launch|workdir|tag: my)/
    assert.ok(isSubsequence(lines.filter((line) => marks.test(line)), text.split('\n')))
    assert.equal(render(after, text), text)
  }))
})
