import t from 'tap'
import { changeText, readText } from '../../../plugins/settings/document.ts'
import { decideStep, digestOf, readSections, replaceSection } from '../../../plugins/settings/shared-sections.ts'

const [OLD, MINE, THEIRS] = [{ media: ['a'] }, { media: ['b'] }, { media: ['c'] }]
const CHANGED_AT = 1_000
const rowOf = (value: unknown) => ({ value, changedAt: CHANGED_AT, changedBy: 'web1' })
const decide = (here: unknown, shared: unknown, base?: unknown, fileChangedAt = 0) => decideStep({
  here,
  shared: shared === 'no row' ? undefined : rowOf(shared),
  base: base === undefined ? undefined : { digest: digestOf(base), changed_at: CHANGED_AT - 1 }
}, fileChangedAt)

t.test('the side that changed since both were equal wins', async (t) => {
  t.same(decide(MINE, OLD, OLD), { step: 'store', loser: null })
  t.same(decide(undefined, OLD, OLD), { step: 'store', loser: null }, 'a section that was removed from the file')
  t.same(decide(OLD, THEIRS, OLD), { step: 'write', loser: null })
  t.same(decide(OLD, undefined, OLD), { step: 'write', loser: null }, 'a section that another host removed')
  t.same(decide({ a: 1, b: 2 }, { b: 2, a: 1 }, OLD), { step: 'none', loser: null }, 'the order of keys means nothing')
})

t.test('of two changes the later one wins, and the other one is named', async (t) => {
  t.same(decide(MINE, THEIRS, OLD, CHANGED_AT + 1), { step: 'store', loser: 'database' })
  t.same(decide(MINE, THEIRS, OLD, CHANGED_AT - 1), { step: 'write', loser: 'file' })
})

t.test('a new host gets the settings of the others, and the first host gives its own', async (t) => {
  t.same(decide(MINE, THEIRS, undefined, CHANGED_AT + 1), { step: 'write', loser: 'file' })
  t.same(decide(undefined, THEIRS), { step: 'write', loser: null })
  t.same(decide(MINE, 'no row'), { step: 'store', loser: null })
  t.same(decide(undefined, 'no row', OLD), { step: 'none', loser: null })
})

t.test('the settings that each host has for itself are not shared and stay', async (t) => {
  const text = 'server: { port: 9 }\nauth:\n  secret_key: mine # here\n  kiosk_mode: true\nunknown: 1\nlogs: {}\n'
  const sections = readSections(readText(text), new Set(['auth', 'logs']))
  t.same([...sections], [['auth', { kiosk_mode: true }]])
  const replace = (to: unknown) => changeText(text, replaceSection('auth', readText(text).auth, to))
  t.match(replace(undefined), /secret_key: mine # here/)
  t.same(readText(replace(undefined)).auth, { secret_key: 'mine' })
  t.same(readText(replace({ kiosk_mode: false })).auth, { secret_key: 'mine', kiosk_mode: false })
  t.notOk('unknown' in readText(changeText(text, replaceSection('unknown', 1, undefined))))
})

t.test('a replaced section keeps the comments of the settings that stay', async (t) => {
  const text = 'scan:\n  # ours\n  media: [box2d] # kept\n  priority:\n    region: [us, jp]\n    language: [en]\n'
  const from = readText(text).scan
  const to = { media: ['box2d'], priority: { region: ['jp', 'eu'] }, gamelist: { export: true, media: {} }, list: [{ a: 1 }] }
  const after = changeText(text, replaceSection('scan', from, to))
  t.same(readText(after).scan, to)
  t.match(after, /# ours\n {2}media: \[ ?box2d ?\] # kept/)
  t.same(readText(changeText('', replaceSection('scan', undefined, to))).scan, to)
  t.same(readText(changeText('library_dir: a\n', replaceSection('library_dir', 'a', undefined))), {})
})
