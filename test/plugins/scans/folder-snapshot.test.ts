import { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createExclusions } from '../../../plugins/library/exclusions.ts'
import { checkFolder, readAgain, takeSnapshot } from '../../../plugins/scans/disk/folder-snapshot.ts'
import { until } from '../../until.ts'

const rules = createExclusions({
  platforms: [],
  roms: { single_file: { extensions: [], names: [] }, multi_file: { names: [], parts: { extensions: [], names: [] } } }
})
/** Folders last changed a day ago, so each change in a test moves their times. */
const YESTERDAY = new Date(Date.now() - 86_400_000)
const DISAPPEARED = { name: 'LibraryUnreadableError', message: /its content disappeared during the scan; nothing was marked missing/ }

function makeFolder (t: Test, files: Record<string, string>): string {
  const folder = join(t.testdir({ gb: files }), 'gb')
  utimesSync(folder, YESTERDAY, YESTERDAY)
  return folder
}

/** Puts another folder with the same times in the place of a folder. */
function replaceFolder (folder: string, files: readonly string[]): void {
  renameSync(folder, `${folder}-away`)
  mkdirSync(folder)
  for (const name of files) writeFileSync(join(folder, name), name)
  utimesSync(folder, YESTERDAY, YESTERDAY)
}

t.test('a folder that did not change is not read again', async (t) => {
  const folder = makeFolder(t, { 'One.gb': 'one', 'Two.gb': 'two' })
  const before = await takeSnapshot(folder)
  writeFileSync(join(folder, 'One.gb'), 'another content')
  t.equal(await readAgain(folder, rules, before), before)
})

t.test('an added, a deleted or a renamed entry makes a scan read the folder again', async (t) => {
  const changes: Record<string, { change: (folder: string) => void, names: string[] }> = {
    added: { change: (folder) => { writeFileSync(join(folder, 'Two.gb'), 'two') }, names: ['One.gb', 'Two.gb'] },
    deleted: { change: (folder) => { rmSync(join(folder, 'Last.gb')) }, names: ['One.gb'] },
    renamed: { change: (folder) => { renameSync(join(folder, 'Last.gb'), join(folder, 'New.gb')) }, names: ['New.gb', 'One.gb'] }
  }
  for (const [name, { change, names }] of Object.entries(changes)) {
    const folder = makeFolder(t, name === 'added' ? { 'One.gb': 'one' } : { 'One.gb': 'one', 'Last.gb': 'last' })
    const before = await takeSnapshot(folder)
    change(folder)
    t.strictSame([...(await readAgain(folder, rules, before)).items.keys()], names, name)
  }
})

t.test('an entry changed under restored times of its folder is found', async (t) => {
  const folder = makeFolder(t, { 'One.gb': 'one' })
  const before = await takeSnapshot(folder)
  const readChangeTime = () => statSync(folder, { bigint: true }).ctimeNs
  const changedAt = readChangeTime()
  writeFileSync(join(folder, 'Two.gb'), 'two')
  // The clock of some file systems ticks a few times in a hundredth of a second.
  await until(() => {
    utimesSync(folder, YESTERDAY, YESTERDAY)
    return readChangeTime() !== changedAt
  }, 'a later change of the folder')
  t.strictSame([...(await readAgain(folder, rules, before)).items.keys()], ['One.gb', 'Two.gb'])
})

t.test('a folder that another one replaced, or that lost all its games, is unreadable', async (t) => {
  const files = { 'One.gb': 'one', 'Two.gb': 'two' }
  const replaced = makeFolder(t, files)
  const before = await takeSnapshot(replaced)
  replaceFolder(replaced, Object.keys(files))
  await t.rejects(readAgain(replaced, rules, before), DISAPPEARED, 'another folder with the same names')
  const emptied = makeFolder(t, { ...files, 'gamelist.xml': '<gameList/>' })
  const full = await takeSnapshot(emptied)
  for (const name of Object.keys(files)) rmSync(join(emptied, name))
  await t.rejects(readAgain(emptied, rules, full), DISAPPEARED, 'an excluded file is no game')
  rmSync(emptied, { recursive: true })
  await t.rejects(readAgain(emptied, rules, full), { name: 'LibraryUnreadableError', message: /it does not exist/ })
})

t.test('a folder that was replaced while it was read is unreadable', async (t) => {
  const folder = makeFolder(t, { 'One.gb': 'one' })
  const before = { ...await takeSnapshot(folder), inode: '' }
  await t.rejects(readAgain(folder, rules, before), DISAPPEARED)
})

t.test('after a problem a folder is read as a whole, whatever its times', async (t) => {
  const folder = makeFolder(t, { 'One.gb': 'one' })
  const before = await takeSnapshot(folder)
  const stale = { ...before, items: new Map(before.items).set('Gone.gb', { name: 'Gone.gb', kind: 'file' as const, isValid: true }) }
  t.strictSame([...(await checkFolder(folder, rules, stale)).items.keys()], ['One.gb'])
})
