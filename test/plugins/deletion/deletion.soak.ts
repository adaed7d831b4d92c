import { mkdtemp, readFile, readdir, rename, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startDeletion } from './deletion-support.ts'

const {
  test, libraryDir, put, rom, roms, scan, sql, addPlatform, call, deleteRoms, runTask, listTrash, restore, inTrash,
  emptyTrash, erase
} = await startDeletion(t)

t.test('a ROM restored during scans of its folder is one ROM', async (t) => {
  await emptyTrash()
  const { folder, id } = await addPlatform(Object.fromEntries(['A', 'B', 'C', 'D', 'Stays'].map((name) => [`${name}.gb`, name])))
  const ids = await Promise.all(['A.gb', 'B.gb', 'C.gb', 'D.gb'].map(id))
  await deleteRoms({ roms: ids, delete_from_fs: ids })
  const items = (await listTrash()).items.map((item) => item.id)
  const [task] = await Promise.all([test.start({ platform_fs_slugs: [folder] }), ...items.map((item) => restore(item))])
  await test.finished(task)
  await scan({ platform_fs_slugs: [folder] })
  t.same((await roms(folder)).map((rom) => rom.fs_name), ['A.gb', 'B.gb', 'C.gb', 'D.gb', 'Stays.gb'])
  t.same((await roms(folder)).slice(0, 4).map((rom) => rom.id), ids)
  t.notOk((await roms(folder)).some((rom) => rom.missing_from_fs))
})

/** Creates a folder on a disk other than that of the library; null if there is none. */
async function makeDisk (): Promise<string | null> {
  const disk = await mkdtemp('/dev/shm/svc-trash-').catch(() => null)
  if (disk === null) return null
  t.teardown(() => rm(disk, { recursive: true, force: true }))
  return (await stat(disk)).dev === (await stat(libraryDir)).dev ? null : disk
}

/** Rounds of each pair of requests; `npm run soak` runs more. */
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 2)

t.test('concurrent deletions, renames and moves leave no stray file', async (t) => {
  await emptyTrash()
  const edit = (id: number, name: string) => call('PUT', `/api/roms/${id}`, { fs_name: name })
  const erased = (id: number) => call('POST', '/api/roms/delete', { roms: [id], delete_from_fs: [id] })
  const eraseFile = (id: number, file: number) => call('DELETE', `/api/roms/${id}/files/${file}`)
  interface Reply { statusCode: number, body: string }
  const crossings: Record<string, (rom: { id: number, file: number, round: number }) => Promise<Reply>[]> = {
    'delete, rename': ({ id, round }) => [erased(id), edit(id, `New ${round}.gb`)],
    'delete, folder': ({ id }) => [erased(id), call('POST', `/api/roms/${id}/convert-to-folder`)],
    'folder, delete': ({ id }) => [call('POST', `/api/roms/${id}/convert-to-folder`), erased(id)],
    'delete, delete': ({ id }) => [erased(id), erased(id)],
    'file, delete': ({ id, file }) => [eraseFile(id, file), erased(id)],
    'file, rename': ({ id, file, round }) => [eraseFile(id, file), edit(id, `Other ${round}`)],
    'file, file': ({ id, file }) => [eraseFile(id, file), eraseFile(id, file)]
  }
  const isFolder = (name: string) => name.startsWith('file')
  const names = Object.keys(crossings).flatMap((name) => Array.from({ length: ROUNDS }, (_none, round) => `${name} ${round}`))
  const { folder, path } = await addPlatform({
    'Stays.gb': 'x',
    ...Object.fromEntries(names.map((name) => [isFolder(name) ? `${name}/a.bin` : name, `content of ${name}`])),
    ...Object.fromEntries(names.filter(isFolder).map((name) => [`${name}/b.bin`, `more of ${name}`]))
  })
  const listed = new Map((await roms(folder)).map((one) => [one.fs_name, one.id]))
  for (const [name, begin] of Object.entries(crossings)) {
    for (let round = 0; round < ROUNDS; round++) {
      const id = listed.get(`${name} ${round}`) ?? 0
      const [file] = await sql<{ id: number }>('select id from rom_files where rom_id = $1 order by file_name', [id])
      for (const { statusCode, body } of await Promise.all(begin({ id, file: file?.id ?? 0, round }))) {
        t.ok([200, 204, 404, 409].includes(statusCode), `${name}: ${statusCode} ${body.slice(0, 200)}`)
        t.notMatch(body, 'ENOENT', name)
      }
    }
  }
  await scan({ platform_fs_slugs: [folder] })
  const after = new Map((await roms(folder)).filter((one) => !one.missing_from_fs).map((one) => [one.fs_name, one.id]))
  for (const entry of await readdir(path(), { withFileTypes: true })) {
    if (entry.isDirectory() && (await readdir(path(entry.name))).length === 0) continue
    t.ok(after.has(entry.name), `${entry.name} is a ROM`)
  }
  const items = (await listTrash()).items.map((item) => item.id)
  for (const item of items) {
    const { errors } = await restore(item)
    for (const error of errors) t.match(error, /in the library again|not in the list|same moment/, error)
  }
})

t.test('a platform on its own disk has its trash there', async (t) => {
  const disk = await makeDisk()
  if (disk === null) return t.pass('there is no other disk here')
  await emptyTrash()
  const folder = 'platform on a disk'
  await symlink(disk, join(libraryDir, 'roms', folder))
  await put({ [`roms/${folder}/Far.gb`]: 'far', [`roms/${folder}/Stays.gb`]: 'stays' })
  await scan({ platform_fs_slugs: [folder] })
  const { id } = await rom(folder, 'Far.gb')
  t.match(await deleteRoms({ roms: [id], delete_from_fs: [id] }), { successful_items: 1 })
  const [entry = ''] = await readdir(join(disk, '.svc-trash'))
  t.equal(await readFile(join(disk, '.svc-trash', entry, 'roms', folder, 'Far.gb'), 'utf8'), 'far')
  await sql("update trash_items set deleted_at = now() - interval '2 hours' where rom_id = $1", [id])
  await rename(disk, `${disk}-away`)
  await runTask('empty_trash')
  const item = await inTrash(id)
  t.match(await restore(item), { successful_items: 0, errors: [/mount its disk/] }, 'what lies on a disk that is away is not forgotten')
  await rename(`${disk}-away`, disk)
  t.match(await restore(item), { successful_items: 1 })
  t.equal(await readFile(join(disk, 'Far.gb'), 'utf8'), 'far')
  t.equal((await rom(folder, 'Far.gb')).id, id)
  await erase(id)
  await scan({ platform_fs_slugs: [folder] })
  t.same((await roms(folder)).map((one) => one.fs_name), ['Stays.gb'])
  await runTask('empty_trash', { everything: true })
  t.same(await readdir(join(disk, '.svc-trash')), [])
})
