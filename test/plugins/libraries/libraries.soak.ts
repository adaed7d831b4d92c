import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../until.ts'
import { buildScanTest } from '../scans/support.ts'
import { startLibraries } from './libraries-support.ts'

const {
  test, put, scan, sql, libraryDir, root, call, library, rows, addDisk, platformId, found, runTask, upload
} = await startLibraries(t)

t.test('a scan hashes files in linked platform folders and in new libraries', async (t) => {
  const hashes = async (name: string) => (await sql<{ sha1_hash: string }>(
    'select sha1_hash from roms where fs_name = $1', [name])).map((row) => row.sha1_hash)
  const sha1Of = (text: string) => createHash('sha1').update(text).digest('hex')
  await put({ 'roms/wonderswan/Early.ws': 'early' })
  await scan()
  const other = t.testdir({ gg: { 'Linked.gg': 'linked' } })
  await symlink(join(other, 'gg'), join(libraryDir, 'roms/gamegear'))
  await addDisk(t, 'later', { 'roms/wonderswan/Late.ws': 'late' })
  const task = await scan()
  t.same(test.problems(task), [])
  t.same([await hashes('Early.ws'), await hashes('Linked.gg'), await hashes('Late.ws')],
    [[sha1Of('early')], [sha1Of('linked')], [sha1Of('late')]])
  await rm(join(libraryDir, 'roms/gamegear'))
})

t.test('a scan may be limited to some libraries', async (t) => {
  await put({ 'roms/gba/Here.gba': 'here' })
  const disk = await addDisk(t, 'some', { 'roms/gba/There.gba': 'there' })
  await scan()
  await rm(join(libraryDir, 'roms/gba/Here.gba'))
  await rm(disk.at('roms/gba/There.gba'))
  await disk.fill({ 'roms/gba/New.gba': 'new' })
  const missing = async () => (await rows('gba')).filter((rom) => rom.missing_from_fs).map((rom) => rom.fs_name)
  await scan({ library_ids: [disk.id] })
  t.same(await missing(), ['There.gba'])
  await scan({ library_ids: [1] })
  t.same(await missing(), ['Here.gba', 'There.gba'])
  const failed = await scan({ library_ids: [99] })
  t.equal(failed.status, 'failed')
  t.match(await test.error(failed.task_id), /^No library has one of the IDs 99/)
})

t.test('a file that moves to another library remains the same ROM', async (t) => {
  const disk = await addDisk(t, 'target', { 'roms/sms/Other.sms': 'other' })
  await put({ 'roms/sms/Moved.sms': 'a game that moves', 'roms/sms/Stays.sms': 'stays' })
  await scan()
  const before = (await rows('sms')).find((rom) => rom.fs_name === 'Moved.sms')
  await rename(join(libraryDir, 'roms/sms/Moved.sms'), disk.at('roms/sms/Moved.sms'))
  await scan()
  const after = (await rows('sms')).filter((rom) => rom.fs_name === 'Moved.sms')
  t.same(after, [{ ...before, library_id: disk.id }])
  t.equal((await call('GET', `/api/roms/${before?.id}/content/Moved.sms`)).body, 'a game that moves')

  await disk.unmount()
  await put({ 'roms/sms/Copy.sms': 'a game that moves' })
  await scan()
  t.match((await rows('sms')).find((rom) => rom.id === before?.id), { fs_name: 'Moved.sms', library_id: disk.id },
    'what lies on a disk that is not mounted did not move')
  await disk.mount()
})

t.test('nothing is written into a read-only library', async (t) => {
  const disk = await addDisk(t, 'archive', { 'roms/lynx/Game.lnx': 'x', 'bios/lynx/lynx.bin': 'x' }, { writable: false })
  await scan()
  const [rom] = await rows('lynx')
  const renamed = await call('PUT', `/api/roms/${rom?.id}`, { fs_name: 'Renamed.lnx' })
  t.equal(renamed.statusCode, 409, renamed.body)
  t.match(renamed.json().detail, /^The library 'archive' is read-only/)
  t.equal(await readFile(disk.at('roms/lynx/Game.lnx'), 'utf8'), 'x')
  const [firmware] = (await call('GET', '/api/firmware')).json<{ id: number, file_path: string }[]>()
    .filter((one) => one.file_path === 'bios/lynx')
  const deleted = await call('POST', '/api/firmware/delete', { firmware: [firmware?.id], delete_from_fs: [firmware?.id] })
  t.match(deleted.json(), { successful_items: 0, errors: [/The library 'archive' is read-only/] })
  const platform = (await call('POST', '/api/platforms', { fs_slug: 'lynx' })).statusCode
  t.equal(platform, 201)
  t.match(await call('PUT', `/api/libraries/${disk.id}`, { writable: true }).then((reply) => reply.json()), { is_writable: true })
  t.equal((await call('PUT', `/api/roms/${rom?.id}`, { fs_name: 'Renamed.lnx' })).statusCode, 200)
  t.equal(await readFile(disk.at('roms/lynx/Renamed.lnx'), 'utf8'), 'x')
})

t.test('exports go beside the ROMs of each library, except read-only ones', async (t) => {
  await put({ 'roms/gbc/First.gbc': 'first' })
  const disk = await addDisk(t, 'beside', { 'roms/gbc/Second.gbc': 'second' })
  const closed = await addDisk(t, 'closed', { 'roms/gbc/Third.gbc': 'third' }, { writable: false })
  await scan()
  const outcome = await call('POST', '/api/export/gamelist-xml', { platforms: ['gbc'] })
  t.equal(outcome.statusCode, 200, outcome.body)
  t.match(outcome.json(), { files: [{ library_id: 1, games: 1 }, { library_id: disk.id, games: 1 }], errors: [] })
  t.match(await readFile(join(libraryDir, 'roms/gbc/gamelist.xml'), 'utf8'), /First(?!.*Second)/s)
  t.match(await readFile(disk.at('roms/gbc/gamelist.xml'), 'utf8'), './Second.gbc')
  await t.rejects(readFile(closed.at('roms/gbc/gamelist.xml')), { code: 'ENOENT' })
})

t.test('missing ROMs are cleaned up only in readable libraries', async (t) => {
  await put({ 'roms/jaguar/First.j64': 'first' })
  const disk = await addDisk(t, 'lost', { 'roms/jaguar/Second.j64': 'second' })
  await scan()
  await sql("update roms set missing_from_fs = true where fs_name in ('First.j64', 'Second.j64')")
  await rm(join(libraryDir, 'roms/jaguar/First.j64'))
  await disk.unmount()
  const task = (await call('POST', '/api/tasks/run/cleanup_missing_roms', {})).json<{ task_id: string }>()
  t.match(await test.finished(task.task_id), { status: 'finished' })
  t.same((await rows('jaguar')).map((rom) => rom.fs_name), ['Second.j64'])
  await disk.mount()
})

t.test('an upload goes to its library, and fails while that library is unmounted', async (t) => {
  const disk = await addDisk(t, 'chosen', { 'roms/supervision/Old.sv': 'old' })
  const closed = await addDisk(t, 'shut', { 'roms/supervision/Locked.sv': 'x' }, { writable: false })
  await scan()
  const platform = String(await platformId('supervision'))
  const send = (name: string, library?: number) => upload('', {
    'x-upload-platform': platform, 'x-upload-filename': name, ...(library === undefined ? {} : { 'x-upload-library': String(library) })
  }, `all of ${name}`)
  t.equal((await send('First.sv', 1)).statusCode, 200)
  t.match(await found('supervision', 'First.sv'), { library_id: 1 })
  t.equal((await send('Second.sv', disk.id)).statusCode, 200)
  t.match(await found('supervision', 'Second.sv'), { library_id: disk.id })
  t.match((await send('X.sv', 99)).json(), { detail: /^There is no library with ID 99; send one of 1, / })
  t.equal((await send('X.sv', 99)).statusCode, 400)
  t.match((await send('X.sv', closed.id)).json(), { detail: /^The library 'shut' is read-only/ })

  const begun = (await upload('/upload/start', {
    'x-upload-platform': platform, 'x-upload-filename': 'Begun.sv', 'x-upload-library': String(disk.id), 'x-upload-total-size': '2',
    'x-upload-total-chunks': '2'
  }, '')).json<{ upload_id: string }>().upload_id
  const chunk = (index: number) => upload(`/upload/${begun}`, { 'x-chunk-index': String(index) }, 'x', 'PUT')
  t.equal((await chunk(0)).statusCode, 200)
  t.match((await call('GET', `/api/roms/upload/${begun}`)).json(), { library_id: disk.id, received_chunks: [0] })
  await rm(join(libraryDir, 'roms/supervision'), { recursive: true })
  await scan({ library_ids: [1] })
  for (const leavesEmpty of [false, true]) {
    await disk.unmount()
    if (leavesEmpty) await mkdir(disk.dir)
    for (const reply of [await send('X.sv'), await send('X.sv', disk.id), await chunk(1), await upload(`/upload/${begun}/complete`, {}, '')]) {
      t.equal(reply.statusCode, reply.json<{ detail: string }>().detail.startsWith('Missing chunks') ? 400 : 503, reply.body)
      t.match(reply.json(), { detail: /^(The library 'chosen' is not mounted: |Missing chunks: \[1\])/ })
    }
    t.same(await readdir(disk.dir).catch(() => []), [], 'nothing is written where its disk is to be')
    await rm(disk.dir, { recursive: true, force: true })
    await disk.mount()
  }
  t.equal((await chunk(1)).statusCode, 200)
  t.equal((await upload(`/upload/${begun}/complete`, {}, '')).statusCode, 201)
  t.equal(await readFile(disk.at('roms/supervision/Begun.sv'), 'utf8'), 'xx')
  await found('supervision', 'Begun.sv')
})

t.test('each library has its own trash, and all are emptied together', async (t) => {
  await put({ 'roms/ngp/Game.ngp': 'first' })
  const disk = await addDisk(t, 'emptied', { 'roms/ngp/Game.ngp': 'second', 'roms/ngpc/Parts/a.bin': 'a', 'roms/ngpc/Parts/b.bin': 'b' })
  const closed = await addDisk(t, 'sealed', { 'roms/ngp/Game.ngp': 'third' }, { writable: false })
  await scan()
  const ids = (await rows('ngp')).map((rom) => rom.id)
  const outcome = (await call('POST', '/api/roms/delete', { roms: ids, delete_from_fs: ids })).json()
  t.match(outcome, { successful_items: 2, failed_ids: [ids[2]], errors: [/The library 'sealed' is read-only/] })
  t.match(await rows('ngp'), [{ id: ids[2], library_id: closed.id, missing_from_fs: false }])
  const trashed = async (dir: string) => (await readdir(join(dir, '.svc-trash'), { recursive: true }).catch(() => []))
    .map((path) => path.split('/').slice(1).join('/')).filter((path) => /\.\w+$/.test(path)).sort()
  t.same(await trashed(libraryDir), ['roms/ngp/Game.ngp'])
  t.same(await trashed(disk.dir), ['roms/ngp/Game.ngp'])
  t.same(await sql('select library_id, missing_from_fs from platform_folders where platform_id = $1 order by library_id', [await platformId('ngp')]), [
    { library_id: 1, missing_from_fs: true }, { library_id: disk.id, missing_from_fs: true },
    { library_id: closed.id, missing_from_fs: false }
  ], 'a folder that is empty is gone')
  t.same(await sql("select missing_from_fs from platforms where fs_slug = 'ngp'"), [{ missing_from_fs: false }])

  const [parts] = await rows('ngpc')
  const [file] = await sql<{ id: number }>("select id from rom_files where rom_id = $1 and file_name = 'b.bin'", [parts?.id ?? 0])
  t.equal((await call('DELETE', `/api/roms/${parts?.id}/files/${file?.id}`)).statusCode, 200)
  t.same(await trashed(disk.dir), ['roms/ngp/Game.ngp', 'roms/ngpc/Parts/b.bin'])
  t.match(await runTask('empty_trash', { everything: true }), { status: 'finished' })
  t.same([...await trashed(libraryDir), ...await trashed(disk.dir)], [])
})

t.test('ROMs are converted in their library, except in read-only ones', async (t) => {
  const game = 'much of the same '.repeat(500)
  await put({ 'roms/a26/Same.a26': game })
  const disk = await addDisk(t, 'turned', { 'roms/a26/Same.a26': game })
  const closed = await addDisk(t, 'kept', { 'roms/a26/Same.a26': game }, { writable: false })
  await scan()
  const before = await rows('a26')
  const task = await runTask('convert_library', { to: 'zip', platform_ids: [await platformId('a26')] })
  t.match(task, {
    status: 'finished', meta: { converted_count: 2, problems: [], left: [{ left: /^The library 'kept' is read-only; / }] }
  })
  t.match(await rows('a26'), [
    { id: before[0]?.id, library_id: 1, fs_name: 'Same.zip' }, { id: before[1]?.id, library_id: disk.id, fs_name: 'Same.zip' },
    { id: before[2]?.id, library_id: closed.id, fs_name: 'Same.a26' }
  ])
  for (const dir of [libraryDir, disk.dir]) t.same(await readdir(join(dir, 'roms/a26')), ['Same.zip'])
  t.same(await readdir(closed.at('roms/a26')), ['Same.a26'])

  const left = disk.at(`roms/a26/.svc-convert-${before[1]?.id}-00000000`)
  await mkdir(left)
  await utimes(left, 0, 0)
  t.match(await runTask('cleanup_conversion_cache'), { meta: { cleanup_stats: { folders_found: 1, folders_removed: 1 } } })
  t.same(await readdir(disk.at('roms/a26')), ['Same.zip'])
})

t.test('missing firmware is cleaned up only in readable libraries', async (t) => {
  await put({ 'bios/saturn/a.bin': 'a', 'roms/saturn/x.iso': 'x' })
  const disk = await addDisk(t, 'firm', { 'bios/saturn/b.bin': 'b', 'roms/saturn/y.iso': 'y' })
  await scan()
  await sql("update firmware set missing_from_fs = true where file_path = 'bios/saturn'")
  await rm(join(libraryDir, 'bios/saturn/a.bin'))
  await disk.unmount()
  const known = async () => (await sql<{ file_name: string }>("select file_name from firmware where file_path = 'bios/saturn'"))
    .map((one) => one.file_name)
  t.match(await runTask('cleanup_missing_firmware'), { status: 'finished', meta: { deleted: ['bios/saturn/a.bin'] } })
  t.same(await known(), ['b.bin'])
  await disk.mount()
  t.match(await runTask('cleanup_missing_firmware'), { status: 'finished', meta: { deleted: [] } })
  t.same(await known(), ['b.bin'])
})

t.test('changes in a watched library are scanned, and in an unwatched one ignored', async (t) => {
  const at = (...path: string[]) => join(root, 'apart', ...path)
  for (const path of ['watched/roms/gb', 'quiet/roms/nes']) await mkdir(at(path), { recursive: true })
  const { app, worker, sql } = await buildScanTest(t, {
    providers: [],
    env: { ENABLE_RESCAN_ON_FILESYSTEM_CHANGE: 'true', RESCAN_ON_FILESYSTEM_CHANGE_DELAY: '0.01', SVC_LIBRARY_DIR: at('none') },
    config: { libraries: { watched: { path: at('watched') }, quiet: { path: at('quiet'), watched: false } } }
  })
  await until(() => worker?.watcher.isWatching() === true, 'the worker watches')
  t.same((await app.library.list()).map(({ id, name }) => [id, name]), [[1, 'watched'], [2, 'quiet']])
  await writeFile(at('quiet/roms/nes/Quiet.nes'), 'x')
  await writeFile(at('watched/roms/gb/New.gb'), 'x')
  const found = () => sql<{ fs_name: string }>('select fs_name from roms order by fs_name')
  await until(async () => (await found()).length > 0, 'the change is scanned')
  const scans = await sql<{ payload: object }>("select payload from tasks where type = 'scan' and task_key is null")
  t.match(scans, [{ payload: { platform_fs_slugs: ['gb'] } }])
})

t.test('a removed library keeps its ROMs until forgotten, and both can return', async (t) => {
  const disk = await addDisk(t, 'leaving', { 'roms/ngc/Game.iso': 'a disc' })
  await scan()
  const [rom] = await rows('ngc')
  const content = `/api/roms/${rom?.id}/content/Game.iso`
  t.equal((await call('DELETE', `/api/libraries/${disk.id}`)).statusCode, 204)
  await scan()
  t.same(await rows('ngc'), [rom])
  t.match(await library(disk.id), { is_configured: false, is_available: false, rom_count: 1 })
  t.equal((await call('GET', content)).statusCode, 404)
  const again = await call('POST', '/api/libraries', { name: 'renamed meanwhile', path: disk.dir })
  t.equal(again.json().id, disk.id, 'known by its folder')
  t.equal((await call('GET', content)).body, 'a disc')

  t.equal((await call('DELETE', `/api/libraries/${disk.id}?forget=true`)).statusCode, 204)
  t.same(await rows('ngc'), [])
  t.equal((await call('GET', `/api/libraries/${disk.id}`)).statusCode, 404)
  t.same(await sql("select missing_from_fs from platforms where fs_slug = 'ngc'"), [{ missing_from_fs: true }])
  t.equal(await readFile(disk.at('roms/ngc/Game.iso'), 'utf8'), 'a disc', 'files stay')
  await call('POST', '/api/libraries', { name: 'back', path: disk.dir })
  await scan()
  t.match(await rows('ngc'), [{ id: rom?.id, library_id: disk.id }])
})
