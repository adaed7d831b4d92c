import { access, copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Disposable } from '../../../plugins/trash/move-to-trash.ts'
import { restoreRomRows } from '../../../plugins/trash/rows.ts'
import { startDeletion } from './deletion-support.ts'

const {
  app, libraryDir, roms, scan, sql, addPlatform, deleteRoms, listTrash, restore, inTrash, emptyTrash, erase
} = await startDeletion(t)

const exists = (path: string) => access(path).then(() => true, () => false)
/** Returns where a trashed ROM lies on the disk. */
async function trashedPath (romId: number): Promise<string> {
  const [item] = await sql<{ entry: string, path: string }>(
    "select entry, file_path || '/' || file_name as path from trash_items where rom_id = $1", [romId])
  return join(libraryDir, '.svc-trash', item?.entry ?? '', item?.path ?? '')
}

/** Does the first steps of a deletion: stores ROMs in the trash, and moves the files of some. */
async function beginDeletion (ids: readonly number[], moved: readonly number[], isPermanent = false) {
  const disposal = app.trash.open(isPermanent, null)
  await disposal.storeRoms(ids)
  for (const id of moved) {
    const [file] = await sql<Disposable>(`select r.library_id, r.platform_id, p.fs_slug as platform_fs_slug, r.fs_path,
      r.fs_path as file_path, r.fs_name as file_name from roms r join platforms p on p.id = r.platform_id where r.id = $1`, [id])
    if (file === undefined) throw new Error(`There is no ROM ${id}`)
    await disposal.move(file)
  }
  return disposal
}

/** Lists the times of ROMs: a ROM that is deleted and found again may have its former id, but not its former time. */
const listAges = (ids: readonly number[]) => sql('select id, created_at from roms where id = any($1) order by id', [ids])

for (const isPermanent of [false, true]) {
  t.test(`a scan recovers an interrupted ${isPermanent ? 'permanent ' : ''}deletion`, async (t) => {
    await emptyTrash()
    const { folder, path, id } = await addPlatform({ 'Moved.gb': 'moved', 'Unmoved.gb': 'unmoved', 'Stays.gb': 'stays' })
    const [moved, unmoved] = [await id('Moved.gb'), await id('Unmoved.gb')]
    await beginDeletion([moved, unmoved], [moved], isPermanent)
    t.match(await scan({ platform_fs_slugs: [folder] }), { status: 'finished' })
    t.same((await roms(folder)).map((rom) => [rom.fs_name, rom.missing_from_fs]), [['Stays.gb', false], ['Unmoved.gb', false]])
    t.equal(await id('Unmoved.gb'), unmoved)
    t.same((await listTrash()).items.map((item) => item.rom_id), [moved])
    t.match(await restore(await inTrash(moved)), { successful_items: 1 })
    t.ok(await exists(path('Moved.gb')))
    t.equal(await id('Moved.gb'), moved)
  })
}

t.test('a recovered deletion of all ROMs of a platform removes its folder', async (t) => {
  const { folder, path, id } = await addPlatform({ 'Only.gb': 'only' })
  const only = await id('Only.gb')
  await beginDeletion([only], [only])
  await scan({ platform_fs_slugs: [folder] })
  t.same(await roms(folder), [])
  t.notOk(await exists(path()))
})

t.test('a scan recovers an interrupted restore', async (t) => {
  const { folder, path, id } = await addPlatform({ 'Early.gb': 'early', 'Late.gb': 'late', 'Stays.gb': 'stays' })
  const [early, late] = [await id('Early.gb'), await id('Late.gb')]
  await deleteRoms({ roms: [early, late], delete_from_fs: [early, late] })
  for (const rom of [early, late]) t.ok(await restoreRomRows(app.db, await inTrash(rom), rom))
  await rename(await trashedPath(late), path('Late.gb'))
  await scan({ platform_fs_slugs: [folder] })
  t.same((await roms(folder)).map((rom) => [rom.fs_name, rom.missing_from_fs]), [['Late.gb', false], ['Stays.gb', false]])
  t.equal(await inTrash(late), 0)
  t.match(await restore(await inTrash(early)), { successful_items: 1 })
  t.equal(await id('Early.gb'), early)
})

t.test('a scan leaves a running deletion alone', async (t) => {
  const { folder, id } = await addPlatform({ 'Moved.gb': 'moved', 'Unmoved.gb': 'unmoved', 'Stays.gb': 'stays' })
  const [moved, unmoved] = [await id('Moved.gb'), await id('Unmoved.gb')]
  const disposal = await beginDeletion([moved, unmoved], [moved])
  await disposal.run(() => scan({ platform_fs_slugs: [folder] }))
  t.equal((await roms(folder)).length, 3)
  t.not(await inTrash(unmoved), 0)
  await scan({ platform_fs_slugs: [folder] })
  t.same((await roms(folder)).map((rom) => rom.fs_name), ['Stays.gb', 'Unmoved.gb'])
})

t.test('an interrupted deletion is left alone if its file is in both places or in none', async (t) => {
  const { folder, path, id } = await addPlatform({ 'Both.gb': 'both', 'None.gb': 'none', 'Stays.gb': 'stays' })
  const ids = [await id('Both.gb'), await id('None.gb')] as const
  await beginDeletion(ids, ids)
  await copyFile(await trashedPath(ids[0]), path('Both.gb'))
  await rm(await trashedPath(ids[1]))
  const before = await listAges(ids)
  t.equal(before.length, 2)
  await scan({ platform_fs_slugs: [folder] })
  t.same(await listAges(ids), before)
  for (const rom of ids) t.not(await inTrash(rom), 0)
})

t.test('a ROM with another path, name or age than a deleted one is not deleted', async (t) => {
  const changes = ["fs_path = 'roms/another folder'", "fs_name = 'Renamed.gb'", "created_at = now() + interval '1 minute'"]
  const files = Object.fromEntries(changes.map((_change, index) => [`Game ${index}.gb`, `game ${index}`]))
  const { folder, id } = await addPlatform({ ...files, 'Stays.gb': 'stays' })
  const ids = await Promise.all(Object.keys(files).map(id))
  await beginDeletion(ids, ids)
  for (const [index, change] of changes.entries()) await sql(`update roms set ${change} where id = $1`, [ids[index]])
  const before = await listAges(ids)
  t.equal(before.length, 3)
  await scan({ platform_fs_slugs: [folder] })
  t.same(await listAges(ids), before)
})

t.test('a ROM whose file was copied back stays in the list and in the trash', async (t) => {
  const { folder, path, id } = await addPlatform({ 'Copied.gb': 'copied', 'Stays.gb': 'stays' })
  const copied = await id('Copied.gb')
  await erase(copied)
  await mkdir(dirname(path('Copied.gb')), { recursive: true })
  await copyFile(await trashedPath(copied), path('Copied.gb'))
  for (let scans = 0; scans < 2; scans++) await scan({ platform_fs_slugs: [folder] })
  t.equal(await id('Copied.gb'), copied)
  t.not(await inTrash(copied), 0)
  await rename(path('Copied.gb'), path('Other name.gb'))
  await writeFile(path('Copied.gb'), 'another game')
  await scan({ platform_fs_slugs: [folder] })
  t.same((await roms(folder)).map((rom) => rom.fs_name), ['Copied.gb', 'Other name.gb', 'Stays.gb'])
  t.not(await inTrash(copied), 0)
})

t.test('a ROM with an unusable path stops no recovery of others', async (t) => {
  await emptyTrash()
  const { folder, id } = await addPlatform({ 'Bad.gb': 'bad', 'Moved.gb': 'moved', 'Stays.gb': 'stays' })
  const [bad, moved] = [await id('Bad.gb'), await id('Moved.gb')]
  await beginDeletion([bad, moved], [moved])
  await sql("update roms set fs_path = '../outside' where id = $1", [bad])
  await sql("update trash_items set fs_path = '../outside', file_path = '../outside' where rom_id = $1", [bad])
  t.match(await scan({ platform_fs_slugs: [folder] }), { status: 'finished' })
  t.same(await sql('select id from roms where id = any($1)', [[bad, moved]]), [{ id: bad }])
  t.equal((await sql('select from trash_items where rom_id = any($1)', [[bad, moved]])).length, 2)
})
