import fc from 'fast-check'
import t from 'tap'
import { compilePattern } from '../../../plugins/library/pattern.ts'
import { anyString } from '../../any-string.ts'
import { exclusionRules } from './generate-library.ts'

t.test('patterns match any characters, one character and sets', async (t) => {
  const cases: [pattern: string, name: string, isMatch: boolean][] = [
    ['*', '', true], ['*', '.hidden\nname', true], ['?', '🎮', true], ['?', '', false],
    ['a*b*c', 'a--b--b-c', true], ['a*b*c', 'a--c--b', false], ['**a', 'bba', true],
    ['[ab]c', 'bc', true], ['[!ab]c', 'bc', false], ['[!ab]c', 'xc', true], ['[a-c]', 'b', true], ['[a-c]', '-', false],
    ['[a-]', '-', true], ['[]]', ']', true], ['[!]]', ']', false], ['[c-a]', 'b', false],
    ['[ab', '[ab', true], ['[ab', 'a', false], ['[]', '[]', true], ['[^a]', '^', true],
    ['{a,b}', 'a', false], ['!a', '!a', true], ['a\\*', 'a\\x', true], ['+(a)', '+(a)', true], ['.*', 'x', false],
    ['*:Zone.Identifier', 'Game.zip:Zone.Identifier', true]
  ]
  for (const [pattern, name, isMatch] of cases) t.equal(compilePattern(pattern)(name), isMatch, `${pattern} on ${name}`)
})

t.test('a pattern without special characters matches only itself', async () => {
  const plain = anyString.filter((text) => !/[*?[]/.test(text))
  fc.assert(fc.property(plain, plain, (pattern, name) =>
    compilePattern(pattern)(pattern) && compilePattern(pattern)(name) === (pattern === name)))
})

t.test('stars match like an equivalent regular expression', async () => {
  const text = fc.array(fc.constantFrom('a', 'b', '*', '?'), { maxLength: 8 }).map((parts) => parts.join(''))
  const name = fc.array(fc.constantFrom('a', 'b'), { maxLength: 10 }).map((parts) => parts.join(''))
  fc.assert(fc.property(text, name, (pattern, value) => {
    const expression = new RegExp(`^${pattern.replaceAll('?', '.').replaceAll('*', '.*')}$`)
    return compilePattern(pattern)(value) === expression.test(value)
  }), { numRuns: 500 })
})

t.test('a pattern of many stars is fast on a name that almost matches', async (t) => {
  const start = performance.now()
  t.notOk(compilePattern('*a'.repeat(60) + 'b')('a'.repeat(255)))
  t.ok(performance.now() - start < 20_000, 'trying each star by itself would take years')
})

t.test('folders compare without case and files with case', async (t) => {
  const rules = exclusionRules({ platforms: ['Old*'], single: { names: ['Readme', '*beta*'] }, multi: ['WIP-?'] })
  t.ok(rules.isExcludedPlatform('oldstuff'))
  t.ok(rules.isExcludedPlatform('@EADIR'))
  t.notOk(rules.isExcludedPlatform('snes'))
  t.ok(rules.isExcludedMulti('wip-1'))
  t.notOk(rules.isExcludedMulti('wip-12'))
  t.ok(rules.isExcludedSingle('Readme'))
  t.notOk(rules.isExcludedSingle('readme'))
  t.ok(rules.isExcludedSingle('Moon (beta).sfc'))
})

t.test('excluded extensions match the end of a name, ignoring case', async (t) => {
  const rules = exclusionRules({ single: { extensions: ['.TXT', 'tar.gz', ''] }, parts: { extensions: ['nfo'] } })
  t.ok(rules.isExcludedSingle('a.Txt'))
  t.ok(rules.isExcludedSingle('a.b.tar.GZ'))
  t.notOk(rules.isExcludedSingle('a.gz'))
  t.notOk(rules.isExcludedSingle('txt'))
  t.notOk(rules.isExcludedSingle('a.'))
  t.ok(rules.isExcludedPart('a.nfo'))
  t.notOk(rules.isExcludedPart('a.txt'))
})

t.test('files that exporters and frontends write beside ROMs are not ROMs', async (t) => {
  const rules = exclusionRules()
  for (const name of ['gamelist.xml', 'gamelist.xml.old', 'gamelist.xml.bak', 'metadata.pegasus.txt',
    'snes.metadata.pegasus.txt', 'metadata.txt', 'noload.txt', '.DS_Store', 'Thumbs.db', 'desktop.ini']) {
    t.ok(rules.isExcludedSingle(name), name)
  }
  for (const name of ['covers', 'Covers', '3DBOXES', 'miximages_v2', 'media', 'custom', '.Trash-1000']) {
    t.ok(rules.isExcludedMulti(name), name)
  }
  t.notOk(rules.isExcludedPlatform('media'), 'a media folder is one only inside a platform')
})

t.test("a game's own assets, settings and text files stay part of it", async (t) => {
  const rules = exclusionRules()
  t.notOk(rules.isExcludedPartFolder('assets'))
  t.notOk(rules.isExcludedPartFolder('screenshots'))
  t.ok(rules.isExcludedPartFolder('@eadir'))
  t.notOk(rules.isExcludedPart('game.ini'))
  t.notOk(rules.isExcludedPart('metadata.txt'))
  t.ok(rules.isExcludedPart('Thumbs.db'))
})
