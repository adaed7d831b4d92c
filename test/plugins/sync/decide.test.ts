import fc from 'fast-check'
import t from 'tap'
import { type ListedFile, isPreferredName, readHash } from '../../../plugins/sync/read-listing.ts'
import {
  type Action, type Decision, type SyncState, type StoredContent, decide, isHashOf, limitDirection
} from '../../../plugins/sync/decide.ts'

/** Returns content made from a letter: equal letters have equal SHA-1 and MD5. */
const content = (letter: string, at = 0): StoredContent =>
  ({ sha1: letter.repeat(40), content_hash: letter.repeat(32), updated_at: at })
const [A, B, C] = [content('a'), content('b'), content('c')]
const server = (of: StoredContent, extra: object = {}) => ({ ...of, updated_at: 0, conflict_of: null, ...extra })
const device = (hash: string | null, changedAt = 0) => ({ hash, changed_at: changedAt })

const NOTHING: SyncState = {
  device: null, server: null, base: null, former: null, is_deleted: false, is_deleted_content: false,
  is_missing: false, is_missing_content: false, is_untracked: false, last_synced_at: null, restores_unlisted: false
}
const of = (state: Partial<SyncState>): Decision => decide({ ...NOTHING, ...state })

/** The table of the reference; each row is tested by SHA-1 and by MD5. */
type Row = [row: string, (hashOf: (of: StoredContent) => string) => Partial<SyncState>, Action, newBase?: StoredContent]
const ROWS: Row[] = [
  ['1: both are the same', (h) => ({ device: device(h(A)), server: server(A) }), 'noop', A],
  ['1: also when the base is another', (h) => ({ device: device(h(A)), server: server(A), base: B }), 'noop', A],
  ['2: new on the server', () => ({ server: server(A) }), 'download'],
  ['3: removed on the device', () => ({ server: server(A), base: A }), 'noop'],
  ['3: but wanted back', () => ({ server: server(A), base: A, restores_unlisted: true }), 'download'],
  ['3: removed on the device, and the server has other bytes with the same content hash',
    () => ({ server: server({ ...B, content_hash: A.content_hash }), base: A }), 'noop'],
  ['4: removed on the device, changed on the server', () => ({ server: server(B), base: A }), 'download'],
  ['5: changed on the device', (h) => ({ device: device(h(B)), server: server(A), base: A }), 'upload'],
  ['5: back to what the server had before', (h) => ({ device: device(h(B)), server: server(A), base: content('a', 5), former: content('b', 4) }), 'upload'],
  ['7: the owner took back what the server had since', (h) => ({ device: device(h(B)), server: server(A), base: A, former: content('b', 1) }), 'download', content('b', 1)],
  ['6: changed on the server', (h) => ({ device: device(h(A)), server: server(B), base: A }), 'download'],
  ['7: an older version', (h) => ({ device: device(h(A)), server: server(B), former: A }), 'download', A],
  ['7: also when the base is a third', (h) => ({ device: device(h(A)), server: server(B), base: C, former: A }), 'download', A],
  ['8: changed on both', (h) => ({ device: device(h(A)), server: server(B), base: C }), 'conflict'],
  ['8: different, and never agreed on', (h) => ({ device: device(h(A)), server: server(B) }), 'conflict'],
  ['8: a copy of a conflict makes no other', (h) => ({ device: device(h(A)), server: server(B, { conflict_of: 1 }) }), 'upload'],
  ['9: what was deleted', (h) => ({ device: device(h(A)), is_deleted: true, is_deleted_content: true }), 'delete'],
  ['9: what was agreed on before', (h) => ({ device: device(h(A)), base: A, is_deleted: true }), 'delete'],
  ['10: deleted, but changed on the device', (h) => ({ device: device(h(B)), base: A, is_deleted: true }), 'upload'],
  ['11: not on the server', (h) => ({ device: device(h(A)) }), 'upload'],
  ['11: changed since it once was', (h) => ({ device: device(h(A)), base: B }), 'upload'],
  ['11: the disk lost it', (h) => ({ device: device(h(A)), base: A, is_missing: true }), 'upload'],
  ['11: the limit of a history took it', (h) => ({ device: device(h(A)), base: A, former: A }), 'upload'],
  ['deleted so long ago that nothing of it is left', (h) => ({ device: device(h(A)), base: A }), 'noop'],
  ['the disk lost what the device has, and an older one is left', (h) => ({ device: device(h(A)), server: server(B), base: A, is_missing: true, is_missing_content: true }), 'conflict'],
  ['not tracked', (h) => ({ device: device(h(B)), server: server(A), base: A, is_untracked: true }), 'noop'],
  ['not tracked and not listed', () => ({ server: server(A), is_untracked: true }), 'noop'],
  ['on neither side', () => ({}), 'noop']
]

t.test('each row of the table gives its decision, by either hash', async (t) => {
  for (const [row, state, action, newBase] of ROWS) {
    for (const hashOf of [(one: StoredContent) => one.sha1, (one: StoredContent) => one.content_hash ?? '']) {
      t.match(of(state(hashOf)), { action, newBase: newBase ?? null }, row)
    }
  }
})

t.test('a device may compute hashes in another way', async (t) => {
  const base = { ...A, content_hash: B.content_hash }
  t.match(of({ device: device(B.content_hash), server: server(A), base }), { action: 'noop', newBase: null })
  t.equal(of({ device: device(B.content_hash), server: server(C), base }).action, 'download')
  t.equal(of({ device: device(C.content_hash), server: server(A), base }).action, 'upload')
})

t.test('a hash without a counterpart is compared with the base, never by time', async (t) => {
  const unhashed = server({ ...A, content_hash: null }, { updated_at: 2 })
  for (const changed of [1, 2, 3]) {
    for (const last of [null, 1, 2, 3]) {
      const sides = { device: device(B.content_hash, changed), server: unhashed, last_synced_at: last }
      t.equal(of(sides).action, 'conflict', 'never agreed on')
      t.equal(of({ ...sides, base: { ...A, content_hash: B.content_hash } }).action, 'noop', 'as agreed on')
      t.equal(of({ ...sides, base: B }).action, 'download', 'as agreed on, and changed on the server')
      t.equal(of({ ...sides, base: { ...A, content_hash: null } }).action, 'conflict', 'nobody knows')
      t.equal(of({ ...sides, base: { ...A, content_hash: C.content_hash } }).action, 'conflict', 'not as agreed on')
    }
  }
})

const CLOCK: [row: string, c: number, s: number, l: number | null, Action][] = [
  ['2', 3, 2, 1, 'conflict'], ['3', 3, 1, 1, 'upload'], ['3', 3, 1, 2, 'upload'], ['4', 1, 3, 1, 'download'],
  ['4', 1, 3, 2, 'download'], ['5', 1, 1, 1, 'noop'], ['5', 1, 2, 3, 'noop'], ['6', 2, 1, null, 'upload'],
  ['7', 1, 2, null, 'download'], ['8', 1, 1, null, 'conflict']
]

t.test('files without a hash are decided by time', async (t) => {
  for (const [row, changed, updated, last, action] of CLOCK) {
    const sides = { device: device(null, changed), server: server(A, { updated_at: updated }) }
    t.equal(of({ ...sides, last_synced_at: last, base: B }).action, action, `row ${row}: C ${changed}, S ${updated}, L ${last}`)
  }
  const unhashed = server({ ...A, content_hash: null })
  t.equal(of({ device: device(null), server: unhashed }).action, 'noop', 'row 9: neither has a hash')
  t.equal(of({ device: device(B.sha1), server: unhashed, base: A }).action, 'upload', 'a SHA-1 always has one')
  t.equal(of({ device: device(null) }).action, 'upload', 'not on the server')
  t.equal(of({ device: device(null), is_deleted: true }).action, 'upload', 'deleted there, and nobody knows what this is')
})

t.test('one-way devices get no operations of the other direction, except conflicts', async (t) => {
  const decisions = ['upload', 'download', 'conflict', 'noop', 'delete'] as const
  const narrowed = (direction: 'pull' | 'push' | 'both') =>
    decisions.map((action) => limitDirection({ action, reason: '', newBase: null }, direction).action)
  t.same(narrowed('both'), decisions)
  t.same(narrowed('pull'), ['noop', 'download', 'conflict', 'noop', 'delete'])
  t.same(narrowed('push'), ['upload', 'noop', 'upload', 'noop', 'noop'])
})

const letters = fc.constantFrom(...'abc')
const contents = fc.record({ letter: letters, hasMd5: fc.boolean(), at: fc.nat(4) })
  .map(({ letter, hasMd5, at }) => hasMd5 ? content(letter, at) : { ...content(letter, at), content_hash: null })
const hashes = fc.oneof(letters.map((letter) => letter.repeat(40)), letters.map((letter) => letter.repeat(32)))
const times = fc.integer({ min: 0, max: 4 })
const serverFiles = fc.record({ of: contents, updated: times, isCopy: fc.boolean() })
  .map(({ of, updated, isCopy }) => server(of, { updated_at: updated, conflict_of: isCopy ? 1 : null }))
const states: fc.Arbitrary<SyncState> = fc.record({
  device: fc.option(fc.record({ hash: fc.option(hashes), changed_at: times })),
  server: fc.option(serverFiles),
  base: fc.option(contents),
  former: fc.option(contents),
  is_deleted: fc.boolean(),
  is_deleted_content: fc.boolean(),
  is_missing: fc.boolean(),
  is_missing_content: fc.boolean(),
  is_untracked: fc.boolean(),
  last_synced_at: fc.option(times),
  restores_unlisted: fc.boolean()
}).map((one) => {
  // The generator only makes former content that equals the device's file.
  const hash = one.device?.hash ?? null
  const former = one.former !== null && hash !== null && isHashOf(hash, one.former) ? one.former : null
  return {
    ...one,
    former,
    is_deleted_content: one.is_deleted && one.is_deleted_content && hash !== null,
    is_missing_content: one.is_missing && one.is_missing_content && hash !== null
  }
})

t.test('every state has one action, and the same one again', async () => {
  fc.assert(fc.property(states, (state) => {
    const decision = decide(state)
    return decision.reason.length > 0 && JSON.stringify(decide(state)) === JSON.stringify(decision)
  }), { numRuns: 2_000 })
})

t.test('a download replaces only content that both sides have or had', async () => {
  fc.assert(fc.property(states, (state) => {
    const { device: file, base, former } = state
    if (decide(state).action !== 'download' || file === null || file.hash === null) return true
    const isKnown = [base, former].some((one) => one !== null && isHashOf(file.hash ?? '', one))
    return isKnown && !state.is_missing_content
  }), { numRuns: 5_000 })
})

t.test('an upload replaces only content that this device had, or a conflict copy', async () => {
  fc.assert(fc.property(states, (state) => {
    const { device: file, server: stored, base } = state
    if (decide(state).action !== 'upload' || stored === null || (file?.hash ?? null) === null) return true
    const { sha1, content_hash: md5 } = stored
    return stored.conflict_of !== null || base?.sha1 === sha1 || (md5 !== null && base?.content_hash === md5)
  }), { numRuns: 5_000 })
})

t.test('a file is deleted only if its content was deleted on the server or is the base', async () => {
  fc.assert(fc.property(states, (state) => {
    if (decide(state).action !== 'delete') return true
    const { device: file, server: stored, base } = state
    const isAgreed = base !== null && isHashOf(file?.hash ?? '', base)
    return stored === null && state.is_deleted && (state.is_deleted_content || isAgreed)
  }), { numRuns: 2_000 })
})

t.test('swapping the sides swaps uploads and downloads and nothing else', async () => {
  const opposite: Record<Action, Action> = {
    upload: 'download', download: 'upload', conflict: 'conflict', noop: 'noop', delete: 'delete'
  }
  fc.assert(fc.property(letters, letters, fc.option(letters), (d, s, b) => {
    const base = b === null ? null : content(b)
    const one = of({ device: device(content(d).sha1), server: server(content(s)), base })
    const other = of({ device: device(content(s).sha1), server: server(content(d)), base })
    return other.action === opposite[one.action]
  }))
})

t.test('a name without a date tag comes first, then a later tag or a later change', async (t) => {
  const listed = (name: string, mtime = '2026-01-01T00:00:00Z'): ListedFile => ({
    rom_id: 1, kind: 'save', file_name: name, mtime, slot: null, emulator: null, is_storable: true, key: null, hash: null, changed_at: 0
  })
  const [plain, older, newer] = [listed('a.srm'), listed('a [2026-01-01_00-00-00].srm'), listed('a [2026-01-02_00-00-00].srm')]
  const later = listed('A.srm', '2026-01-01T01:00:00+00:30')
  const order = [older, newer, plain, later]
  for (const [index, one] of order.entries()) {
    for (const [other, file] of order.entries()) t.equal(isPreferredName(one, file), index > other, `${one.file_name}, ${file.file_name}`)
  }
})

t.test('only an MD5 or SHA-1 of a device is compared', async (t) => {
  t.same([readHash('A'.repeat(32)), readHash('b'.repeat(40))], ['a'.repeat(32), 'b'.repeat(40)])
  for (const hash of [null, undefined, '', 'a'.repeat(31), 'a'.repeat(36), 'a'.repeat(41), 'a'.repeat(64), 'g'.repeat(32)]) {
    t.equal(readHash(hash), null, String(hash))
  }
})
