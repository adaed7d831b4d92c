import { access, chmod, mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { join } from 'node:path'
import { io } from 'socket.io-client'
import t from 'tap'
import { SIGNED_IN_ROOM } from '../../../core/sockets/sockets.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import { until } from '../../until.ts'
import { signIn } from '../auth/support.ts'
import { startDeletion } from './deletion-support.ts'

const {
  app, admin, createUser, libraryDir, dataDir, put, roms, scan, sql, addPlatform, call, deleteRoms, runTask,
  listTrash, restore, inTrash, emptyTrash, erase
} = await startDeletion(t)

const url = await app.listen({ port: 0, host: '127.0.0.1' })
const zoe = await createUser('zoe')
const TRASH = join(libraryDir, '.svc-trash')

const exists = (path: string) => access(path).then(() => true, () => false)
/** Returns the files in the trash, by their paths in the library. */
async function trashed (): Promise<Map<string, string>> {
  const entries = await readdir(TRASH, { recursive: true, withFileTypes: true }).catch(() => [])
  return new Map(entries.filter((entry) => entry.isFile()).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [path.slice(TRASH.length + 1).split('/').slice(1).join('/'), path]
  }))
}

t.test('a ROM is deleted alone, or with its files, which keep their paths in the trash', async (t) => {
  const { folder, path, id } = await addPlatform({ 'One.gb': '1', 'Two.gb': '2', 'Three/disc 1.bin': '3', 'Three/manual/x.pdf': 'x', 'Four.gb': '4' })
  const [one, two, three] = [await id('One.gb'), await id('Two.gb'), await id('Three')]
  const [{ platform } = { platform: 0 }] = await sql<{ platform: number }>('select platform_id as platform from roms where id = $1', [two])
  const artwork = (id: number) => join(dataDir, 'resources', 'roms', String(platform), String(id))
  for (const id of [one, two]) await mkdir(artwork(id), { recursive: true })
  const answer = await deleteRoms({ roms: [one, two, three, 999_999, two], delete_from_fs: [two, three, await id('Four.gb')] })
  t.same(answer, { successful_items: 3, failed_ids: [999_999], errors: ['ROM with ID 999999 not found'] })
  t.same((await roms(folder)).map((rom) => rom.fs_name), ['Four.gb'])
  t.same((await readdir(path())).sort(), ['Four.gb', 'One.gb'])
  const trash = await trashed()
  for (const [name, content] of [['Two.gb', '2'], ['Three/disc 1.bin', '3'], ['Three/manual/x.pdf', 'x']] as const) {
    t.equal(await readFile(trash.get(`roms/${folder}/${name}`) ?? '', 'utf8'), content, name)
  }
  t.same([await exists(artwork(one)), await exists(artwork(two))], [false, true], 'artwork stays with what can come back')
  const { meta } = await scan()
  t.match(meta.scan_stats, { new_platforms: 0 })
  t.same((await roms(folder)).map((rom) => [rom.fs_name, rom.id]), [['Four.gb', await id('Four.gb')], ['One.gb', one]])
})

t.test('a restored ROM is the same ROM, with the data that people added', async (t) => {
  const { folder, path, id } = await addPlatform({ 'Back.gb': 'back', 'Stays.gb': 'stays' })
  const before = await id('Back.gb')
  await app.inject({ method: 'PUT', url: `/api/roms/${before}/props`, headers: admin, payload: { rating: 8 } })
  t.equal((await call('POST', `/api/roms/${before}/notes`, { title: 'Mine' })).statusCode, 200)
  await deleteRoms({ roms: [before], delete_from_fs: [before] })
  t.equal((await call('GET', `/api/roms/${before}`)).statusCode, 404)
  await rename((await trashed()).get(`roms/${folder}/Back.gb`) ?? '', path('Back.gb'))
  await scan({ platform_fs_slugs: [folder] })
  t.equal(await id('Back.gb'), before)
  t.match((await call('GET', `/api/roms/${before}`)).json(), { rom_user: { rating: 8 }, all_user_notes: [{ title: 'Mine' }] })
})

t.test('a missing file is no failure, and a file that cannot be moved keeps its ROM', async (t) => {
  const { folder, path, id } = await addPlatform({ 'Gone.gb': 'gone', 'Kept.gb': 'kept', 'Link.gb': 'x' })
  const [gone, kept] = [await id('Gone.gb'), await id('Kept.gb')]
  await rm(path('Gone.gb'))
  t.match(await deleteRoms({ roms: [gone], delete_from_fs: [gone] }), { successful_items: 1, failed_ids: [] })
  await sql("update roms set fs_path = '../outside' where id = $1", [kept])
  t.match(await deleteRoms({ roms: [kept], delete_from_fs: [kept] }), {
    successful_items: 0, failed_ids: [kept], errors: [new RegExp(`^Failed to delete ROM ${kept}: .*\\.\\.`)]
  })
  t.equal((await roms(folder)).length, 2)
  const outside = join(dataDir, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'Secret.gb'), 'secret')
  await symlink(outside, path('way'))
  await sql('update roms set fs_path = $2, fs_name = $3 where id = $1', [kept, `roms/${folder}/way`, 'Secret.gb'])
  t.equal((await deleteRoms({ roms: [kept], delete_from_fs: [kept] })).failed_ids.length, 1)
  t.equal(await readFile(join(outside, 'Secret.gb'), 'utf8'), 'secret')
  if (process.getuid?.() !== 0) {
    const linked = await id('Link.gb')
    await chmod(path(), 0o555)
    t.match((await deleteRoms({ roms: [linked], delete_from_fs: [linked] })).errors, [/may not write/])
    await chmod(path(), 0o755)
  }
})

t.test('files are deleted permanently on request', async (t) => {
  const { folder, path, id } = await addPlatform({ 'Now/a.bin': 'a', 'Now/b.bin': 'b', 'Other.gb': 'other' })
  const now = await id('Now')
  await deleteRoms({ roms: [now], delete_from_fs: [now], permanently: true })
  t.notOk(await exists(path('Now')))
  t.notOk([...(await trashed()).keys()].some((name) => name.startsWith(`roms/${folder}/`)))
})

t.test('the last deletion removes the platform folder, and scans still work', async (t) => {
  const { folder, path, id } = await addPlatform({ 'Last.gb': 'last' })
  const last = await id('Last.gb')
  await deleteRoms({ roms: [last], delete_from_fs: [last] })
  t.notOk(await exists(path()))
  t.match(await sql('select missing_from_fs from platforms where fs_slug = $1', [folder]), [{ missing_from_fs: true }])
  t.match(await scan({ platform_fs_slugs: [folder] }), { status: 'finished' })
})

t.test('callers without the right to delete or see a ROM delete nothing', async (t) => {
  const { folder, id } = await addPlatform({ 'Mine.gb': 'mine' })
  const mine = await id('Mine.gb')
  t.equal((await call('POST', '/api/roms/delete', { roms: [mine] }, zoe)).statusCode, 403)
  const [{ id: user } = { id: 0 }] = await sql<{ id: number }>("select id from users where username = 'zoe'")
  const allow = (action: string) => ({ entity: 'roms', action, granted: true })
  const grant = (actions: string[]) => app.inject({
    method: 'PUT', url: `/api/permissions/users/${user}`, headers: admin, payload: { overrides: actions.map(allow) }
  })
  t.equal((await grant(['read', 'write'])).statusCode, 200)
  await until(async () => (await call('POST', '/api/roms/1/convert-to-folder', {}, zoe)).statusCode !== 403, 'the scope')
  t.equal((await call('POST', '/api/roms/delete', { roms: [mine] }, zoe)).statusCode, 403, 'the scope alone is not enough')
  t.equal((await call('DELETE', `/api/roms/${mine}/files/1`, undefined, zoe)).statusCode, 403)
  t.equal((await grant(['read', 'write', 'delete'])).statusCode, 200)
  await sql("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [mine, user])
  const hidden = await until(async () => {
    const answer = await call('POST', '/api/roms/delete', { roms: [mine] }, zoe)
    return answer.statusCode === 200 && answer.json<object>()
  }, 'the grant')
  t.match(hidden, { failed_ids: [mine], errors: [`ROM with ID ${mine} not found`] })
  t.equal((await roms(folder)).length, 1)
})

t.test('clients get an event with the deleted ROMs', async (t) => {
  const { id } = await addPlatform({ 'Heard.gb': 'heard', 'Other.gb': 'other' })
  const socket = io(url, { path: '/ws/socket.io', transports: ['websocket'], forceNew: true, extraHeaders: await signIn(app, 'admin') })
  t.teardown(() => socket.disconnect())
  await once(socket as never, 'connect')
  await until(() => app.sockets.main.sockets.adapter.rooms.has(SIGNED_IN_ROOM), 'the socket is bound to its session')
  await awaitEarlierEvents(socket, app)
  const heard = new Promise((resolve) => { socket.on('roms:deleted', resolve) })
  const one = await id('Heard.gb')
  await deleteRoms({ roms: [one] })
  t.same(await heard, { ids: [one] })
})

interface Detail { files: { id: number, file_name: string }[], sha1_hash: string }
const detail = async (id: number) => (await call('GET', `/api/roms/${id}`)).json<Detail>()

t.test('a single file of a ROM is deleted, and the ROM keeps the others', async (t) => {
  const { folder, id } = await addPlatform({ 'Discs/disc 1.bin': 'one', 'Discs/disc 2.bin': 'second', 'Single.gb': 'single' })
  const discs = await id('Discs')
  const before = await detail(discs)
  const second = before.files.find((file) => file.file_name === 'disc 2.bin')?.id ?? 0
  t.equal((await call('DELETE', `/api/roms/${await id('Single.gb')}/files/${second}`)).statusCode, 404, 'of another ROM')
  const answer = await call('DELETE', `/api/roms/${discs}/files/${second}`)
  t.match({ status: answer.statusCode, body: answer.body }, { status: 200, body: '' })
  t.match(await detail(discs), { files: [{ file_name: 'disc 1.bin' }], fs_size_bytes: 3, missing_from_fs: false })
  t.ok((await trashed()).has(`roms/${folder}/Discs/disc 2.bin`))
  const after = await until(async () => {
    const now = await detail(discs)
    return now.sha1_hash !== before.sha1_hash && now
  }, 'the hash of what is left')
  t.match(after, { has_multiple_files: false, fs_size_bytes: 3 })
  t.equal((await call('DELETE', `/api/roms/${discs}/files/${second}`)).statusCode, 404)
  const single = await id('Single.gb')
  const [file] = (await detail(single)).files
  t.equal((await call('DELETE', `/api/roms/${single}/files/${file?.id}?permanently=true`)).statusCode, 200)
  t.match(await detail(single), { files: [], missing_from_fs: true })
  t.notOk((await trashed()).has(`roms/${folder}/Single.gb`))
})

t.test('a single-file ROM becomes a folder once, and stays the same ROM', async (t) => {
  const { folder, path, id } = await addPlatform({ 'Folder (USA).gb': 'content', 'Taken.gb': 'x', 'Taken/y.gb': 'y' })
  const one = await id('Folder (USA).gb')
  for (let times = 0; times < 2; times++) {
    const answer = await call('POST', `/api/roms/${one}/convert-to-folder`)
    t.equal(answer.statusCode, 200, answer.body)
    t.match(answer.json(), { id: one, fs_name: 'Folder (USA)', has_nested_single_file: true, files: [{ file_name: 'Folder (USA).gb' }] })
  }
  t.equal(await readFile(path('Folder (USA)', 'Folder (USA).gb'), 'utf8'), 'content')
  const { meta } = await scan({ platform_fs_slugs: [folder] })
  t.match(meta.scan_stats, { new_roms: 0 })
  t.equal((await call('POST', `/api/roms/${await id('Taken.gb')}/convert-to-folder`)).statusCode, 409)
  t.equal((await call('POST', '/api/roms/999999/convert-to-folder')).statusCode, 404)
})

t.test('the task deletes only old entries of the trash, and no foreign folder in it', async (t) => {
  await rm(TRASH, { recursive: true, force: true })
  const { folder, id } = await addPlatform({ 'New.gb': 'new', 'Other.gb': 'other' })
  await deleteRoms({ roms: [await id('New.gb')], delete_from_fs: [await id('New.gb')] })
  await put({ '.svc-trash/2020-01-01T00-00-00-0123abcd/roms/x/Old.gb': 'old', '.svc-trash/mine/Keep.gb': 'keep' })
  t.match(await runTask('empty_trash'), { status: 'finished', meta: { cleanup_stats: { entries: 1 } } })
  t.same([...(await trashed()).keys()].sort(), ['Keep.gb', `roms/${folder}/New.gb`])
  await runTask('empty_trash', { everything: true })
  t.same([...(await trashed()).keys()], ['Keep.gb'])
})

t.test('a restored ROM has its id, field locks, artwork, saves, notes and collections', async (t) => {
  await emptyTrash()
  const { folder, path, id } = await addPlatform({ 'Kept (Japan).gb': 'kept', 'Game/disc 1.bin': 'one', 'Game/manual/x.pdf': 'x', 'Stays.gb': 'stays' })
  const [kept, game] = [await id('Kept (Japan).gb'), await id('Game')]
  const edited = await app.inject({ method: 'PUT', url: `/api/roms/${kept}`, headers: admin, payload: { name: 'By hand', summary: 'Mine' } })
  t.equal(edited.statusCode, 200, edited.body)
  t.equal((await call('POST', `/api/roms/${kept}/notes`, { title: 'Note' })).statusCode, 200)
  await app.inject({ method: 'PUT', url: `/api/roms/${kept}/props`, headers: admin, payload: { rating: 7 } })
  const form = '--x\r\ncontent-disposition: form-data; name="saveFile"; filename="a.sav"\r\n\r\nsaved\r\n--x--\r\n'
  const saved = await app.inject({
    method: 'POST', url: `/api/saves?rom_id=${kept}`, headers: { ...admin, 'content-type': 'multipart/form-data; boundary=x' }, payload: form
  })
  t.equal(saved.statusCode, 200, saved.body)
  const collection = (await app.inject({
    method: 'POST', url: '/api/collections', headers: { ...admin, 'content-type': 'application/x-www-form-urlencoded' }, payload: 'name=Restored'
  })).json<{ id: number }>().id
  await call('POST', `/api/collections/${collection}/roms`, { rom_ids: [kept, game] })
  const artwork = join(dataDir, 'resources', 'roms', String((await call('GET', `/api/roms/${kept}`)).json<{ platform_id: number }>().platform_id), String(kept))
  await mkdir(artwork, { recursive: true })
  const before = (await call('GET', `/api/roms/${kept}`)).json<Record<string, unknown>>()

  await deleteRoms({ roms: [kept, game], delete_from_fs: [kept, game] })
  t.match(await listTrash(), { total: 2, items: [{ kind: 'rom', deleted_by: 'admin', problem: null }, { kind: 'rom' }] })
  t.match((await runTask('cleanup_orphaned_resources')).status, 'finished')
  t.ok(await exists(artwork), 'its artwork waits with it')
  t.match(await restore(await inTrash(kept), await inTrash(game), 999_999), {
    successful_items: 2, failed_ids: [999_999], errors: ["Item with ID '999999' of the trash not found"]
  })
  const after = (await call('GET', `/api/roms/${kept}`)).json<Record<string, unknown>>()
  t.same({ ...after, updated_at: '', rom_user: '' }, { ...before, updated_at: '', rom_user: '' })
  t.match(after, { name: 'By hand', rom_user: { rating: 7 }, user_saves: [{}], all_user_notes: [{ title: 'Note' }] })
  t.same((await call('GET', `/api/collections/${collection}`)).json<{ rom_ids: number[] }>().rom_ids.sort(), [kept, game].sort())
  t.equal(await readFile(path('Game', 'manual', 'x.pdf'), 'utf8'), 'x')
  t.same(await listTrash(), { items: [], total: 0, limit: 50, offset: 0 })
  t.same(await readdir(TRASH).then((names) => names.filter((name) => name !== 'mine')), [], 'nothing is left of it in the trash')
  const { meta } = await scan({ platform_fs_slugs: [folder] })
  t.match(meta.scan_stats, { new_roms: 0 })
  t.match((await call('GET', `/api/roms/${kept}`)).json(), { name: 'By hand', missing_from_fs: false })
})

t.test('a restore never replaces a file, and restores an item only once', async (t) => {
  await emptyTrash()
  const { folder, path, id } = await addPlatform({ 'Twice.gb': 'first', 'Dir/a.bin': 'a', 'Stays.gb': 'x' })
  const [twice, dir] = [await id('Twice.gb'), await id('Dir')]
  await deleteRoms({ roms: [twice, dir], delete_from_fs: [twice, dir] })
  await put({ [`roms/${folder}/Twice.gb`]: 'second', [`roms/${folder}/Dir/b.bin`]: 'b' })
  const items = [await inTrash(twice), await inTrash(dir)]
  t.match(await restore(...items), { successful_items: 0, failed_ids: items, errors: [/'.*Twice.gb' exists in the library again/, /Dir' exists in the library again/] })
  t.equal(await readFile(path('Twice.gb'), 'utf8'), 'second')
  t.same(await readdir(path('Dir')), ['b.bin'])
  await rm(path('Twice.gb'))
  await rm(path('Dir'), { recursive: true })
  const answers = await Promise.all([restore(...items), restore(...items)])
  t.equal(answers[0].successful_items + answers[1].successful_items, 2, 'of two at once one brings each back')
  t.equal(await readFile(path('Twice.gb'), 'utf8'), 'first')
  t.same((await scan({ platform_fs_slugs: [folder] })).meta.scan_stats.new_roms, 0)
  t.equal(await id('Twice.gb'), twice)

  await erase(twice)
  await rm((await trashed()).get(`roms/${folder}/Twice.gb`) ?? '')
  t.match((await listTrash()).items, [{ problem: 'it is not in the trash any more' }])
  t.match(await restore(await inTrash(twice)), { successful_items: 0, errors: [/is not in the trash any more/] })
  t.equal((await call('GET', `/api/roms/${twice}`)).statusCode, 404)
  await sql("update trash_items set deleted_at = now() - interval '2 hours'")
  t.equal((await runTask('empty_trash')).status, 'finished')
  t.match(await listTrash(), { total: 0 })
})

t.test('files that are already back are restored with all data of the ROM', async (t) => {
  await emptyTrash()
  const { folder, path, id } = await addPlatform({ 'File.gb': 'file', 'Dir/a.bin': 'a', 'Stays.gb': 'x' })
  const ids = [await id('File.gb'), await id('Dir')]
  for (const one of ids) await app.inject({ method: 'PUT', url: `/api/roms/${one}`, headers: admin, payload: { name: `By hand ${one}` } })
  await deleteRoms({ roms: ids, delete_from_fs: ids })
  const items = await Promise.all(ids.map(inTrash))
  // Simulates a server killed at that moment: files have moved, and the transaction is rolled back.
  await sql('create function refuse () returns trigger language plpgsql as $$ begin raise null_value_not_allowed; end $$')
  await sql('create constraint trigger refuse after delete on trash_items deferrable initially deferred for each row execute function refuse()')
  t.match(await restore(...items), { successful_items: 0, failed_ids: items })
  await sql('drop function refuse cascade')
  t.same((await readdir(path())).sort(), ['Dir', 'File.gb', 'Stays.gb'])
  t.match((await listTrash()).items, [{ problem: null }, { problem: null }])
  t.match(await restore(...items), { successful_items: 2 })
  t.equal((await listTrash()).total, 0)
  for (const one of ids) t.match((await call('GET', `/api/roms/${one}`)).json(), { name: `By hand ${one}`, missing_from_fs: false })
  t.match((await scan({ platform_fs_slugs: [folder] })).meta.scan_stats, { new_roms: 0 })
  t.equal(await readFile(path('Dir', 'a.bin'), 'utf8'), 'a')

  await erase(ids[0] ?? 0)
  await rename((await trashed()).get(`roms/${folder}/File.gb`) ?? '', path('File.gb'))
  await scan({ platform_fs_slugs: [folder] })
  t.equal(await id('File.gb'), ids[0])
  t.match(await restore(await inTrash(ids[0] ?? 0)), { successful_items: 1 }, 'after a scan, too')

  await erase(ids[0] ?? 0)
  await rm((await trashed()).get(`roms/${folder}/File.gb`) ?? '')
  await put({ [`roms/${folder}/File.gb`]: 'another game' })
  await sql('delete from former_roms')
  await scan({ platform_fs_slugs: [folder] })
  t.not(await id('File.gb'), ids[0])
  t.match(await restore(await inTrash(ids[0] ?? 0)), { successful_items: 0, errors: [/is not in the trash any more/] }, 'not what only has its name')
})

t.test('a scan after an interrupted restore finds the ROM with its field locks', async (t) => {
  await emptyTrash()
  const { folder, path, id } = await addPlatform({ 'Cut.gb': 'cut', 'Stays.gb': 'x' })
  const one = await id('Cut.gb')
  t.equal((await call('PUT', `/api/roms/${one}`, { name: 'By hand', summary: 'Mine' })).statusCode, 200)
  const before = await sql('select * from rom_matches where rom_id = $1', [one])
  await erase(one)
  const item = await inTrash(one)
  await sql('create function refuse () returns trigger language plpgsql as $$ begin raise null_value_not_allowed; end $$')
  await sql('create constraint trigger refuse after delete on trash_items deferrable initially deferred for each row execute function refuse()')
  t.match(await restore(item), { successful_items: 0 })
  await sql('drop function refuse cascade')
  t.match((await scan({ platform_fs_slugs: [folder] })).meta.scan_stats, { new_roms: 0 })
  t.match((await call('GET', `/api/roms/${one}`)).json(), { name: 'By hand', summary: 'Mine', missing_from_fs: false })
  t.same(await sql('select * from rom_matches where rom_id = $1', [one]), before)
  t.equal(await inTrash(one), 0, 'the scan finishes the restore')
  t.equal(await readFile(path('Cut.gb'), 'utf8'), 'cut')
})

t.test('an edit after an interrupted deletion is restored too', async (t) => {
  await emptyTrash()
  const { path, id } = await addPlatform({ 'Late.gb': 'late', 'Stays.gb': 'x' })
  const one = await id('Late.gb')
  // Simulates a server killed after it moved the file.
  await sql('create function refuse () returns trigger language plpgsql as $$ begin raise null_value_not_allowed; end $$')
  await sql('create trigger refuse before delete on roms for each row execute function refuse()')
  t.equal((await call('POST', '/api/roms/delete', { roms: [one], delete_from_fs: [one] })).statusCode, 500)
  await sql('drop function refuse cascade')
  t.equal((await call('PUT', `/api/roms/${one}`, { name: 'Later' })).statusCode, 200)
  await erase(one)
  t.match(await restore(await inTrash(one)), { successful_items: 1 })
  t.match((await call('GET', `/api/roms/${one}`)).json(), { name: 'Later' })
  t.equal(await readFile(path('Late.gb'), 'utf8'), 'late')
})

t.test('a single file is restored to its ROM, also after a rename of the ROM', async (t) => {
  await emptyTrash()
  const { folder, path, id } = await addPlatform({ 'Parts/a.bin': 'a', 'Parts/b.bin': 'b', 'Parts/manual/m.pdf': 'm', 'One.gb': 'one' })
  const parts = await id('Parts')
  const fileOf = async (name: string) => (await detail(parts)).files.find((file) => file.file_name === name)?.id
  for (const name of ['b.bin', 'm.pdf']) t.equal((await call('DELETE', `/api/roms/${parts}/files/${await fileOf(name)}`)).statusCode, 200)
  const renamed = await app.inject({ method: 'PUT', url: `/api/roms/${parts}`, headers: admin, payload: { fs_name: 'Renamed' } })
  t.equal(renamed.statusCode, 200, renamed.body)
  const items = (await listTrash()).items
  t.match(items, [{ kind: 'file', full_path: `roms/${folder}/Parts/manual/m.pdf` }, { kind: 'file', full_path: `roms/${folder}/Parts/b.bin` }])
  t.match(await restore(...items.map((item) => item.id)), { successful_items: 2 })
  t.equal(await readFile(path('Renamed', 'manual', 'm.pdf'), 'utf8'), 'm')
  await until(async () => (await detail(parts)).files.length === 3, 'the files of the ROM')

  const one = await id('One.gb')
  const [file] = (await detail(one)).files
  await call('DELETE', `/api/roms/${one}/files/${file?.id}`)
  const item = await inTrash(one)
  await deleteRoms({ roms: [one] })
  t.match(await restore(item), { successful_items: 0, errors: [/The ROM 'One' is not in the list; restore that ROM first/] })
  t.match((await call('POST', '/api/trash/empty', { items: [item] })).json(), { successful_items: 1 })
})

t.test('callers without the right to delete or see a ROM cannot see or restore it', async (t) => {
  await emptyTrash()
  const { id } = await addPlatform({ 'Secret.gb': 'secret', 'Open.gb': 'open', 'Stays.gb': 'x' })
  const [secret, open] = [await id('Secret.gb'), await id('Open.gb')]
  await sql('update roms set min_age = 18 where id = $1', [secret])
  await deleteRoms({ roms: [secret, open], delete_from_fs: [secret, open] })
  const yan = await createUser('yan')
  for (const [method, route] of [['GET', ''], ['POST', '/restore'], ['POST', '/empty']] as const) {
    t.equal((await call(method, `/api/trash${route}`, method === 'GET' ? undefined : { items: [] }, yan)).statusCode, 403, route)
  }
  const [{ id: user } = { id: 0 }] = await sql<{ id: number }>("select id from users where username = 'yan'")
  const overrides = ['read', 'write', 'delete'].map((action) => ({ entity: 'roms', action, granted: true }))
  await app.inject({ method: 'PUT', url: `/api/permissions/users/${user}`, headers: admin, payload: { overrides } })
  await until(async () => (await call('GET', '/api/trash', undefined, yan)).statusCode === 200, 'the grant')
  t.equal((await listTrash(yan)).total, 2)
  await sql("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [secret, user])
  const items = [await inTrash(secret), await inTrash(open)]
  t.match(await listTrash(yan), { total: 1, items: [{ rom_id: open }] })
  t.match((await call('POST', '/api/trash/restore', { items }, yan)).json(), { successful_items: 1, failed_ids: [items[0]] })
  t.match((await call('POST', '/api/trash/empty', {}, yan)).json(), { successful_items: 0 })
  t.match(await listTrash(), { total: 1, items: [{ rom_id: secret }] })
  t.match((await call('POST', '/api/trash/empty', {})).json(), { successful_items: 1, failed_ids: [] })
  t.match(await listTrash(), { total: 0 })
  t.same([...(await trashed()).keys()].filter((name) => name.includes('Secret')), [])
})

t.test('deletions of ROMs and files are audited with their user', async (t) => {
  const { id } = await addPlatform({ 'Noted/a.gb': 'a', 'Noted/manual/m.pdf': 'm', 'Noted/screenshots/s.png': 's', 'Noted/soundtrack/t.mp3': 't', 'Rest.gb': 'r' })
  const noted = await id('Noted')
  const { files } = await detail(noted)
  const fileOf = (name: string) => files.find((file) => file.file_name === name)?.id ?? 0
  const paths = [
    `manuals/files/${fileOf('m.pdf')}`, `screenshots/${fileOf('s.png')}`, `soundtracks/${fileOf('t.mp3')}`, `files/${fileOf('a.gb')}`
  ]
  for (const path of paths) t.equal((await call('DELETE', `/api/roms/${noted}/${path}`)).statusCode, 200, path)
  await deleteRoms({ roms: [noted], delete_from_fs: [noted] })
  const { items } = (await call('GET', '/api/audit-log?limit=1000')).json<{ items: { event: string, details: Record<string, string> }[] }>()
  const deleted = items.filter(({ event, details }) => event === 'rom_file.deleted' && [details.id, details.rom_id].includes(String(noted)))
  t.same(deleted.map(({ details }) => details.file_id).sort(), ['m.pdf', 's.png', 't.mp3', 'a.gb'].map((name) => String(fileOf(name))).sort())
  t.match(items.find(({ event, details }) => event === 'rom.deleted' && details.roms === `[${noted}]`), {
    username: 'admin', details: { delete_from_fs: `[${noted}]` }
  })
})
