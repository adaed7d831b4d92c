import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createManyLstats } from '../../../plugins/entries/lstat-many.ts'
import { toFactsText } from '../../../plugins/entries/lstat.ts'
import { readDirectory } from '../../../plugins/library/directory.ts'
import { findUnchanged } from '../../../plugins/scans/disk/unchanged-files.ts'
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
  t: Test, dir: string, known: ReadonlyMap<string, StoredRomSummary>, signal = new AbortController().signal
) {
  const { readFacts, close } = createManyLstats()
  t.teardown(close)
  const [unchanged, others]: [string[], string[]] = [[], []]
  for await (const batch of findUnchanged(dir, await readDirectory(dir), known, { readFacts, signal })) {
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

t.test('thousands of files are compared in batches by a thread, until a stop', async (t) => {
  const names = Array.from({ length: 3_000 }, (_none, index) => `${index}.gb`)
  const dir = t.testdir(Object.fromEntries(names.map((name) => [name, ''])))
  const known = new Map(names.map((name) => storedRom(dir, name)))
  known.delete('2999.gb')
  const { unchanged, others } = await compare(t, dir, known)
  t.equal(unchanged.length, 2_999)
  t.strictSame(others, ['2999.gb'])
  const stop = AbortSignal.abort(new Error('stopped'))
  await t.rejects(compare(t, dir, known, stop), { message: 'stopped' })
})
