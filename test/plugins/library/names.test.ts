import fc from 'fast-check'
import t from 'tap'
import { findTaggedId, listStems, nameSortKey, parseName, regionCodes, sortComparator } from '../../../plugins/library/names.ts'
import { anyString } from '../../any-string.ts'

function tagsOf (name: string) {
  const { regions, languages, revision, version, tags } = parseName(name)
  return { regions, languages, revision, version, tags }
}

t.test('a name is split into title, extension and tags', async (t) => {
  t.same(parseName('Chrono Harbor (USA, Europe) (En,Fr) (Rev 1) (v1.2) [!] (Beta).tar.gz'), {
    fs_name_no_ext: 'Chrono Harbor (USA, Europe) (En,Fr) (Rev 1) (v1.2) [!] (Beta)',
    fs_name_no_tags: 'Chrono Harbor',
    fs_extension: 'tar.gz',
    regions: ['USA', 'Europe'],
    languages: ['English', 'French'],
    revision: '1',
    version: '1.2',
    tags: ['!', 'Beta'],
    serial: null
  })
})

t.test('the extension is the last dot part and the lower-case words before it', async (t) => {
  const extensions = {
    'Game.sfc': 'sfc',
    'Game.SFC': 'SFC',
    'Game.7z': '7z',
    'Game.v1.tar.gz': 'tar.gz',
    'Game.p8.png': 'png',
    'Mr. Moon (USA)': '',
    'Mr. Moon (USA).zip': 'zip',
    Game: '',
    'Game.': '',
    '.hidden': '',
    '.hidden.zip': 'zip',
    '.tar.gz': 'gz',
    '...zip': 'zip',
    '': ''
  }
  for (const [name, extension] of Object.entries(extensions)) t.equal(parseName(name).fs_extension, extension, name)
})

t.test("a folder's name has an extension only if it looks like one", async (t) => {
  const extensions = { 'Moon (USA).m3u': 'm3u', 'S.T.A.R': '', 'Moon v1.2': '', 'Moon.7z': '7z', 'Dr.Moon': '', '.git': '' }
  for (const [name, extension] of Object.entries(extensions)) {
    t.equal(parseName(name, { isFolder: true }).fs_extension, extension, name)
  }
  t.equal(parseName('Moon v1.2', { isFolder: true }).fs_name_no_ext, 'Moon v1.2')
})

t.test('trailing tag groups are removed and one in the middle stays', async (t) => {
  const titles = {
    'Moon (Side A) Part 2 (USA) [b1].zip': 'Moon (Side A) Part 2',
    'Moon(USA).zip': 'Moon',
    'Moon (Europe (En,Fr)).zip': 'Moon',
    'Moon USA).zip': 'Moon USA)',
    'Moon (USA.zip': 'Moon (USA',
    '(USA) [!].zip': '(USA) [!]',
    ' Moon  ( ) .zip': 'Moon'
  }
  for (const [name, title] of Object.entries(titles)) t.equal(parseName(name).fs_name_no_tags, title, name)
})

t.test('a code in exact case precedes other cases, and then a region a language', async (t) => {
  t.match(tagsOf('x (Nl)'), { languages: ['Dutch'], regions: [] })
  t.match(tagsOf('x (NL)'), { languages: [], regions: ['Netherlands'] })
  t.match(tagsOf('x (nl)'), { languages: [], regions: ['Netherlands'] })
  t.match(tagsOf('x (No)'), { languages: ['Norwegian'], regions: [] })
  t.match(tagsOf('x (no)'), { languages: [], regions: ['Norway'] })
  t.match(tagsOf('x (japan, JAPANESE, en, fR)'), { regions: ['Japan'], languages: ['Japanese', 'English', 'French'] })
  t.match(tagsOf('x (U) (W) (UNL) (nolang)'), { regions: ['USA', 'World', 'Unlicensed'], languages: ['No Language'] })
})

t.test('versions, revisions and named regions are distinguished from plain tags', async (t) => {
  t.equal(tagsOf('x (v1.0)').version, '1.0')
  t.equal(tagsOf('x (Ver. 3)').version, '3')
  t.equal(tagsOf('x (Version 2)').version, '2')
  t.equal(tagsOf('x (v.1)').version, '1')
  t.equal(tagsOf('x (v1.0) [v2]').version, '2', 'the last one wins')
  t.equal(tagsOf('x (Rev A)').revision, 'A')
  t.equal(tagsOf('x (rev-2) (Rev|3)').revision, '3')
  t.same(tagsOf('x (Reg-E) (reg Moonland)').regions, ['Europe', 'Moonland'])
  t.same(tagsOf('x (Vertigo) (Rev) (Rev1) (Regional) (v.) (v)').tags, ['Vertigo', 'Rev', 'Rev1', 'Regional', 'v.', 'v'])
})

t.test('empty and unbalanced groups give no tags, and a repeated tag counts once', async (t) => {
  t.same(tagsOf('x () [] (,) (USA [Proto] (Demo) (USA) (U) (Demo').tags, ['Proto', 'Demo'])
  t.same(tagsOf('x (USA) (U)').regions, ['USA'])
})

t.test('a tag gives an integer to a provider with integer ids', async (t) => {
  const name = 'x (IGDB-1234) y (ssfr-5) (igdb-9) (tide-table-11) (launchbox-07).zip'
  const read = (word: string) => findTaggedId(name, word, 'integer')
  t.same(['igdb', 'ssfr', 'launchbox', 'tide-table', 'tide', 'moby'].map(read), [1234, 5, 7, 11, null, null])
  const odd = 'x (igdb-) (igdb-1a) [igdb-3] igdb-4 (igdb-99999999999999999999)'
  t.equal(findTaggedId(odd, 'igdb', 'integer'), null)
  t.equal(findTaggedId('x (igdb-2147483648) (igdb-7).zip', 'igdb', 'integer'), 7, 'an id has 32 bits')
})

t.test('a tag gives text, but no path, to a provider with text ids', async (t) => {
  const read = (name: string) => findTaggedId(name, 'tide', 'string')
  t.equal(read('x (Tide-Ab_9.c-~) (USA).sfc'), 'Ab_9.c-~')
  t.equal(read('x (tide-..) (tide-a/b) (tide-a%2f) (tide-) (tide-a b) (tide-7).sfc'), '7')
  t.equal(read(`x (tide-${'a'.repeat(65)}).sfc`), null)
})

t.test('serials are found in all common forms', async (t) => {
  const serials = {
    'Moon [0100f2c0115b6000][v0].nsp': '0100F2C0115B6000',
    'Moon [70010000012345].nsp': '70010000012345',
    'SLUS_209.46.Moon.iso': 'SLUS-20946',
    'Moon [SCES-01234].chd': 'SCES-01234',
    'Moon (IGDB-12345).zip': null,
    'Moon (igdb-12345).zip': null,
    'Moon SLUS-123456.zip': null,
    'Moon 01001234.zip': null
  }
  for (const [name, serial] of Object.entries(serials)) t.equal(parseName(name).serial, serial, name)
})

t.test('regions become priority codes without unknown ones and repeats', async (t) => {
  t.same(regionCodes(['USA', 'Holland', 'Netherlands', 'Moonland', 'Unlicensed', 'Spain']), ['us', 'nl', 'sp'])
})

t.test('the sort key drops an article and orders numbers by value', async (t) => {
  t.equal(nameSortKey('The Moon 2'), 'moon 000000000002')
  t.equal(nameSortKey('  Das Boot'), 'boot')
  t.equal(nameSortKey('The'), 'the')
  t.equal(nameSortKey('Theme'), 'theme')
  t.ok(nameSortKey('Moon 9') < nameSortKey('Moon 10'))
  t.equal(nameSortKey('x'.repeat(600)).length, 500)
  t.ok(nameSortKey('x'.repeat(499) + '🎮🎮').isWellFormed(), 'no character is cut in half')
})

t.test('siblings compare without case and English article', async (t) => {
  t.equal(sortComparator(' And Then '), 'then')
  t.equal(sortComparator('A Moon'), 'moon')
  t.equal(sortComparator('An Apple'), 'an apple')
})

const piece = fc.constantFrom('(', ')', '[', ']', '.', ',', '-', ' ', 'zip', 'USA', 'En', 'rev', 'v1', 'igdb-1', '\n', '🎮')
const anyName = fc.oneof(anyString, fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')))

t.test('any string is accepted, with separate title and extension', async () => {
  fc.assert(fc.property(anyName, fc.boolean(), (fsName, isFolder) => {
    const parsed = parseName(fsName, { isFolder })
    const { fs_name_no_ext: stem, fs_extension: extension } = parsed
    const whole = extension === '' ? stem : `${stem}.${extension}`
    return fsName.includes(stem) && fsName.endsWith(extension) && stem.startsWith(parsed.fs_name_no_tags) &&
      (fsName.trim() === '' || parsed.fs_name_no_tags !== '') && whole.length <= fsName.length + extension.length + 1 &&
      parsed.tags.every((tag) => tag !== '' && fsName.includes(tag)) &&
      nameSortKey(fsName).length <= 500 && typeof sortComparator(fsName) === 'string'
  }), { numRuns: 500 })
})

t.test('a name leads to all names without extension that it may have in any case', async () => {
  const toUpper = (text: string) => text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())
  fc.assert(fc.property(anyName.filter((name) => name !== ''), fc.boolean(), (fsName, isFolder) => {
    const { fs_name_no_ext: stem } = parseName(fsName, { isFolder })
    return listStems(fsName).includes(stem) && listStems(toUpper(fsName)).includes(toUpper(stem))
  }), { numRuns: 500 })
})

t.test('the time to parse a name grows only with its length', async (t) => {
  const start = performance.now()
  for (const piece of ['(', ')', '[', '(a', '.a', 'a.', '-', 'v.', '()', '(v ', '0100', 'the ', '([', '(A,']) {
    parseName(piece.repeat(20_000))
    nameSortKey(piece.repeat(20_000))
  }
  t.ok(performance.now() - start < 60_000, 'a quadratic expression would take many minutes')
})
