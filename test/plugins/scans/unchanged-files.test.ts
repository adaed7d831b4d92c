import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { THREAD_FROM, createManyLstats } from '../../../plugins/entries/lstat-many.ts'
import { toFactsText } from '../../../plugins/entries/lstat.ts'
import { readDirectory } from '../../../plugins/library/directory.ts'
import { type FactsByName, findUnchanged, readEarlyFacts } from '../../../plugins/scans/disk/unchanged-files.ts'
import type { StoredRomSummary } from '../../../plugins/scans/rom-rows.ts'

function readFacts (dir: string, name: string) {
  const { size, mtimeMs: mtime, ino: inode } = lstatSync(join(dir, name), { bigint: true })
  return { kind: 'file', size, mtime, inode }
}

/** Returns a ROM as a scan of the file stored it. */
function storedRom (dir: string, name: string, changes: Partial<StoredRomSummary> = {}): [string, StoredRomSummary] {
  return [name, {
    id: 1,
    fs_name: name,
    missing_from_fs: false,
    is_identified: false,
    is_fresh: false,
    is_unfinished: false,
    fresh_files: 0,
    providers: [],
    file_facts: toFactsText(readFacts(dir, name)),
    ...changes
  }]
}

/** Compares a folder with ROMs. @returns the names of unchanged files and of all other items */
async function compare (
  t: Test, dir: string, known: ReadonlyMap<string, StoredRomSummary>,
  { facts = new Map(), signal = new AbortController().signal }: { facts?: FactsByName, signal?: AbortSignal } = {}
) {
  const { readFacts, close } = createManyLstats()
  t.teardown(close)
  const [unchanged, others]: [string[], string[]] = [[], []]
  for await (const batch of findUnchanged(dir, await readDirectory(dir), { known, facts }, { readFacts, signal })) {
    unchanged.push(...batch.unchanged)
    others.push(...batch.others.map(({ name }) => name))
  }
  return { unchanged, others }
}

t.test('a file with the stored size, time and inode is unchanged', async (t) => {
  const dir = t.testdir({ 'Same.gb': 'same', 'Larger.gb': 'larger', 'Newer.gb': 'newer', 'Replaced.gb': 'replaced' })
  const changedRom = (name: string, changes: Partial<ReturnType<typeof readFacts>>) =>
    storedRom(dir, name, { file_facts: toFactsText({ ...readFacts(dir, name), ...changes }) })
  const known = new Map([
    storedRom(dir, 'Same.gb'),
    changedRom('Larger.gb', { size: 5n }),
    changedRom('Newer.gb', { mtime: 1n }),
    changedRom('Replaced.gb', { inode: 1n })
  ])
  t.strictSame(await compare(t, dir, known), { unchanged: ['Same.gb'], others: ['Larger.gb', 'Newer.gb', 'Replaced.gb'] })
})

t.test('folders, links, new files and ROMs with work to do are read as entries', async (t) => {
  const files = ['Fresh.gb', 'Missing.gb', 'Unfinished.gb', 'Unread.gb']
  const dir = t.testdir({
    ...Object.fromEntries(files.map((name) => [name, name])), 'New.gb': '', Folder: {}, 'Link.gb': t.fixture('symlink', 'Fresh.gb')
  })
  const known = new Map([
    storedRom(dir, 'Fresh.gb', { is_fresh: true }),
    storedRom(dir, 'Missing.gb', { missing_from_fs: true }),
    storedRom(dir, 'Unfinished.gb', { is_unfinished: true }),
    storedRom(dir, 'Unread.gb', { file_facts: toFactsText({ ...readFacts(dir, 'Unread.gb'), inode: '' }) }),
    storedRom(dir, 'Folder', { file_facts: null }),
    storedRom(dir, 'Link.gb')
  ])
  t.strictSame(await compare(t, dir, known), {
    unchanged: [], others: ['Folder', 'Fresh.gb', 'Link.gb', 'Missing.gb', 'New.gb', 'Unfinished.gb', 'Unread.gb']
  })
})

const names = Array.from({ length: 3_000 }, (_none, index) => `${index}.gb`)
/** The same thousands of files for the tests below, which do not change them. */
const dir = t.testdir({ ...Object.fromEntries(names.map((name) => [name, ''])), Folder: {} })

t.test('thousands of files are compared in batches, until a stop', async (t) => {
  const known = new Map(names.map((name) => storedRom(dir, name)))
  known.delete('2999.gb')
  const { unchanged, others } = await compare(t, dir, known)
  t.equal(unchanged.length, 2_999)
  t.strictSame(others, ['2999.gb', 'Folder'])
  const stop = AbortSignal.abort(new Error('stopped'))
  await t.rejects(compare(t, dir, known, { signal: stop }), { message: 'stopped' })
})

t.test('facts that were read before are compared in place of those on disk', async (t) => {
  const dir = t.testdir({ 'Early.gb': 'early', 'Late.gb': 'late', 'Unread.gb': 'unread' })
  const known = new Map([
    storedRom(dir, 'Early.gb', { file_facts: 'file 1 1 1' }), storedRom(dir, 'Late.gb'), storedRom(dir, 'Unread.gb')
  ])
  const facts = new Map([['Early.gb', 'file 1 1 1'], ['Unread.gb', '']])
  t.strictSame(await compare(t, dir, known, { facts }), { unchanged: ['Early.gb', 'Late.gb'], others: ['Unread.gb'] })
})

t.test('a thread reads facts of files until the ROMs are listed', async (t) => {
  const items = await readDirectory(dir)
  const { readFacts: readAll, ready, expect, close } = createManyLstats()
  t.teardown(close)
  t.strictSame(await readEarlyFacts(dir, items, Promise.resolve(), { readFacts: readAll, ready }), new Map(), 'without a thread')
  expect(THREAD_FROM)
  const whole = await readEarlyFacts(dir, items, new Promise(() => {}), { readFacts: readAll, ready })
  t.strictSame([...whole].sort(), names.toSorted().map((name) => [name, toFactsText(readFacts(dir, name))]))
  const listing = Promise.withResolvers<void>()
  const started: number[] = []
  async function readCounted (paths: readonly string[]) {
    started.push(paths.length)
    if (started.length === 2) listing.resolve()
    return await readAll(paths)
  }
  const found = await readEarlyFacts(dir, items, listing.promise, { readFacts: readCounted, ready })
  t.strictSame(started, [1_024, 1_024])
  t.equal(found.size, 2_048)
  const failed = Promise.reject(new Error('no rows'))
  t.ok((await readEarlyFacts(dir, items, failed, { readFacts: readAll, ready })).size < 3_000, 'an error of the list ends it too')
})
