import fc from 'fast-check'
import t from 'tap'
import { parseDocument } from 'yaml'
import { getAt } from '../../../core/config/setting-values.ts'
import type { Change } from '../../../plugins/settings/content.ts'
import { changeText, readText } from '../../../plugins/settings/document.ts'

const OWNER = `# written by the owner
exclude: # left out
  platforms: # folders
    - old-* # the first
    # before lost+found
    - lost+found
  # after the folders
  roms:
    single_file: {extensions: [txt, nfo]} # in one line

system:
  platforms:
    # one folder
    Super Nintendo: snes # the grey one
    64: n64
  versions: # none yet
future: {a: [1, 2], b: "x"} # of a later version
scan: # how
  priority:
    region: [us, eu] # at home
    own: kept
  workers: 7 # few
# the end
`
const COMMENTS = [...OWNER.matchAll(/# (.+)$/gm)].map(([, comment = '']) => comment)

const LISTS = [
  ['exclude', 'platforms'], ['exclude', 'roms', 'single_file', 'extensions'], ['exclude', 'roms', 'multi_file', 'names'],
  ['scan', 'priority', 'region'], ['scan', 'priority', 'cover'], ['scan', 'media']
]
const text = fc.oneof(
  fc.constantFrom('snes', 'old-*', 'us', 'txt', '64', 'true', '# x', ': ', '- a', '~', '__proto__'),
  fc.string({ minLength: 1 }),
  fc.string({ unit: 'grapheme', minLength: 1 })
)
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ path: fc.constantFrom(...LISTS), value: fc.option(fc.uniqueArray(text), { nil: undefined }) }),
  fc.record({
    path: fc.tuple(fc.constant('system'), fc.constantFrom('platforms', 'versions'),
      fc.oneof(fc.constantFrom('64', 'Super Nintendo'), text)),
    value: fc.option(text, { nil: undefined })
  }),
  fc.record({ path: fc.constant(['scan', 'gamelist', 'export']), value: fc.boolean() })
)

t.test('any sequence of writes keeps all comments and unknown keys, and the last values', async () => {
  fc.assert(fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
    const result = changes.reduce((before, one) => changeText(before, [one]), OWNER)
    if (parseDocument(result).errors.length > 0) return false
    const content = readText(result)
    const last = new Map(changes.map((one) => [JSON.stringify(one.path), one]))
    return COMMENTS.every((comment) => result.includes(comment)) &&
      JSON.stringify(content.future) === '{"a":[1,2],"b":"x"}' &&
      getAt(content, ['scan', 'workers']) === 7 && getAt(content, ['scan', 'priority', 'own']) === 'kept' &&
      [...last.values()].every(({ path, value }) => {
        const parent = getAt(content, path.slice(0, -1))
        const key = path.at(-1) ?? ''
        const isThere = typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key)
        const found = isThere ? getAt(parent, [key]) : undefined
        return JSON.stringify(found) === JSON.stringify(value)
      })
  }), { numRuns: 40 })
})

t.test('a write without a change leaves the same content, whatever the file', async () => {
  const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(tie('value')),
      fc.dictionary(fc.string(), tie('value')))
  })).value
  fc.assert(fc.property(fc.dictionary(fc.string(), value), (content) => {
    const { exclude: _exclude, ...other } = content
    const before = JSON.stringify(other)
    const after = changeText(changeText(before, [{ path: ['exclude', 'platforms'], value: ['a'] }]), [
      { path: ['exclude', 'platforms'], value: undefined }
    ])
    const { exclude, ...rest } = readText(after)
    return JSON.stringify(rest) === JSON.stringify(readText(before)) && JSON.stringify(exclude) === '{}'
  }), { numRuns: 50 })
})

t.test('an empty file, or one with only comments, takes settings', async (t) => {
  for (const before of ['', '\n', '# mine\n', '---\n', 'exclude:\n', 'exclude: # mine\n', '{}']) {
    const after = changeText(before, [{ path: ['exclude', 'platforms'], value: ['x'] }])
    t.same(readText(after), { exclude: { platforms: ['x'] } }, before)
    t.equal(after.includes('# mine'), before.includes('# mine'), before)
  }
})

t.test('a value shared by an alias changes only where named, or not at all', async (t) => {
  const shared = 'codes: &codes [us]\nscan: { priority: { region: *codes, language: *codes } }\n'
  t.same(readText(changeText(shared, [{ path: ['scan', 'priority', 'region'], value: ['eu'] }])),
    { codes: ['us'], scan: { priority: { region: ['eu'], language: ['us'] } } })
  const named = 'scan: { priority: { region: &codes [us], language: *codes } }\n'
  t.throws(() => changeText(named, [{ path: ['scan', 'priority', 'region'], value: ['eu'] }]), { name: 'UnchangeableError' })
  t.throws(() => changeText('a: [', [{ path: ['scan', 'media'], value: [] }]), { name: 'UnchangeableError' })
})

t.test('half a surrogate pair in a name becomes the replacement character', async (t) => {
  const text = changeText('', [{ path: ['system', 'platforms', 'a\ud800b'], value: 'snes' }, { path: ['exclude', 'platforms'], value: ['\udc00'] }])
  t.same(readText(text), { system: { platforms: { 'a\ufffdb': 'snes' } }, exclude: { platforms: ['\ufffd'] } })
  t.same(readText(changeText(text, [{ path: ['system', 'platforms', 'a\ufffdb'], value: undefined }])).system, { platforms: {} })
})
