import { deepEqual, equal } from 'node:assert/strict'
import { chmod, mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { SERVER_DIR } from '../../../core/server-dir.ts'
import type { LibraryView } from '../../../plugins/libraries/schemas.ts'
import { assignRows } from '../../../plugins/library/roots.ts'
import { readZip } from '../roms/zip-support.ts'
import { startLibraries, type Row } from './libraries-support.ts'

const {
  test, app, admin, createUser, put, scan, sql, libraryDir, dataDir, root, call, library, rows, addDisk, platformId,
  found, runTask, upload
} = await startLibraries(t)

const configFile = join(dataDir, 'config.yml')
const member = await createUser('member')

const GAMELIST = (name: string) => `<gameList><game><path>./Game.sfc</path><name>${name}</name>
  <image>./media/Game.png</image></game></gameList>`
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
const libraries = async (headers = admin) => (await call('GET', '/api/libraries', undefined, headers)).json<LibraryView[]>()

t.test('without a list there is one library, the folder of SVC_LIBRARY_DIR', async (t) => {
  const [only, ...others] = await libraries()
  t.match(only, {
    id: 1, name: 'library', path: libraryDir, is_configured: true, is_available: true, problem: null, rom_count: 0, last_scan: null
  })
  t.ok((only?.free_bytes ?? 0) > 0 && (only?.total_bytes ?? 0) > (only?.free_bytes ?? 0))
  t.same(others, [])
})

t.test('equal files in two libraries are two ROMs of one platform with own gamelists', async (t) => {
  await writeFile(configFile, '# mine\nscan:\n  hash_threads: 1 # few\nmystery: kept\n')
  await put({ 'roms/snes/Game.sfc': 'first', 'roms/snes/gamelist.xml': GAMELIST('From the first'), 'roms/snes/media/Game.png': PNG })
  const disk = await addDisk(t, 'disk', {
    'snes/roms/Game.sfc': 'second', 'snes/roms/gamelist.xml': GAMELIST('From the second'), 'snes/roms/media/Game.png': PNG,
    'snes/bios/boot.bin': 'x', 'gb/roms/Other.gb': 'gb'
  })
  const text = await readFile(configFile, 'utf8')
  t.match(text, /^# mine\nscan:\n {2}hash_threads: 1 # few\nmystery: kept\n/, 'comments and unknown keys stay')
  t.match(text, `library:\n    path: ${libraryDir}`, 'the one that was not listed is')
  const task = await scan()
  t.match(task, { status: 'finished', meta: { scan_stats: { total_platforms: 2, scanned_platforms: 2, total_roms: 3, new_platforms: 2 } } })
  t.match(await rows('snes'), [
    { library_id: 1, fs_name: 'Game.sfc', name: 'From the first' }, { library_id: disk.id, fs_name: 'Game.sfc', name: 'From the second' }
  ])
  const covers = await sql<{ url_cover: string, path_cover_large: string | null }>(
    "select url_cover, path_cover_large from roms where fs_name = 'Game.sfc' order by library_id")
  t.match(covers.map(({ path_cover_large: path }) => path), [/big/, /big/], 'covers come from the library of the ROM')
  t.equal((await sql("select 1 from platforms where fs_slug = 'snes'")).length, 1)
  t.match(await library(disk.id), {
    platform_count: 2, rom_count: 2, missing_count: 0, fs_size_bytes: 8, last_scan: { problem: null }
  })
  t.match(await libraries(member), [{ path: null, free_bytes: null }, { path: null, free_bytes: null, rom_count: 2 }],
    'only administrators are told of places')

  const [first, second] = await rows('snes')
  const listed = await call('GET', `/api/roms?library_ids=${disk.id}`)
  t.same(listed.json().items.map((rom: Row) => rom.fs_name), ['Game.sfc', 'Other.gb'])
  t.same(listed.json().items.map((rom: Row) => rom.library_id), [disk.id, disk.id])
  for (const [rom, content] of [[first, 'first'], [second, 'second']] as const) {
    t.equal((await call('GET', `/api/roms/${rom?.id}/content/Game.sfc`)).body, content)
  }
  const zip = await readZip((await call('GET', `/api/roms/download?rom_ids=${first?.id},${second?.id}`)).rawPayload)
  t.same([...zip.keys()].sort(), ['disk/snes/roms/Game.sfc', 'library/roms/snes/Game.sfc'])
  const [firmware] = (await call('GET', '/api/firmware')).json<{ id: number }[]>()
  t.equal((await call('GET', `/api/firmware/${firmware?.id}/content/boot.bin`)).body, 'x')

  await rm(disk.at('snes/roms'), { recursive: true })
  await scan()
  t.match(await rows('snes'), [{ missing_from_fs: false }, { missing_from_fs: true }])
  t.same(await sql("select missing_from_fs from platforms where fs_slug = 'snes'"), [{ missing_from_fs: false }],
    'a platform is there as long as one library has it')
})

t.test('an unmounted root marks nothing missing, and scan, library and health report it', async (t) => {
  const disk = await addDisk(t, 'shaky', { 'roms/nes/A.nes': 'a', 'roms/nes/B.nes': 'b' })
  await scan()
  const health = async () => (await app.inject({ url: '/api/health/ready' })).json().checks.libraries
  t.same(await health(), { status: 'ok', reason: null })
  const [rom] = await rows('nes')
  for (const leavesEmpty of [false, true]) {
    await disk.unmount()
    if (leavesEmpty) await mkdir(disk.dir)
    const task = await scan()
    t.equal(task.status, 'finished', 'the other library is scanned')
    t.match(test.problems(task), [/The library 'shaky' was not scanned completely/])
    t.match(await rows('nes'), [{ missing_from_fs: false }, { missing_from_fs: false }])
    const state = await library(disk.id)
    t.match(state, { is_available: false, rom_count: 2, missing_count: 0, free_bytes: null })
    t.match(state.problem, leavesEmpty ? /empty, which looks as if its disk is not mounted/ : /cannot be read/)
    t.ok(state.last_scan?.problem)
    t.match(await health(), { status: 'failed', reason: /^1 of 2 libraries cannot be read/ })
    t.equal((await app.inject({ url: '/api/health' })).statusCode, 200)
    const reply = await call('GET', `/api/roms/${rom?.id}/content/A.nes`)
    t.equal(reply.statusCode, 503)
    t.match(reply.json().detail, /^The library 'shaky' cannot be read now/)
    const exported = await call('POST', '/api/export/gamelist-xml', { platforms: ['nes'] })
    t.match({ status: exported.statusCode, ...exported.json() }, { status: 503, detail: /^The library 'shaky' is not mounted: / })
    t.equal((await scan({ library_ids: [disk.id] })).status, 'failed', 'a scan of nothing else fails')
    await rm(disk.dir, { recursive: true, force: true })
    await disk.mount()
  }
  await scan()
  t.match(await library(disk.id), { is_available: true, problem: null, last_scan: { problem: null } })
})

t.test('uploads go to the library with the platform, and are scanned there', async (t) => {
  await put({ 'roms/vb/First.vb': 'first' })
  const disk = await addDisk(t, 'growing', { 'roms/wswan/Second.ws': 'second' })
  await scan()
  const [first, second] = [String(await platformId('vb')), String(await platformId('wswan'))]
  for (const [platform, name] of [[first, 'New.vb'], [second, 'New.ws']] as const) {
    const reply = await upload('', { 'x-upload-platform': platform, 'x-upload-filename': name }, `all of ${name}`)
    t.equal(reply.statusCode, 200, reply.body)
  }
  t.match(await found('vb', 'New.vb'), { library_id: 1 })
  t.match(await found('wswan', 'New.ws'), { library_id: disk.id })
  t.equal(await readFile(disk.at('roms/wswan/New.ws'), 'utf8'), 'all of New.ws')

  const sizes = { 'x-upload-total-size': '6', 'x-upload-total-chunks': '2' }
  const begin = async (name: string) =>
    (await upload('/upload/start', { 'x-upload-platform': second, 'x-upload-filename': name, ...sizes }, '')).json<{ upload_id: string }>().upload_id
  const [id, left] = [await begin('Chunks.ws'), await begin('Left.ws')]
  for (const [index, piece] of ['abc', 'def'].entries()) {
    t.equal((await upload(`/upload/${id}`, { 'x-chunk-index': String(index) }, piece, 'PUT')).statusCode, 200)
  }
  t.equal((await upload(`/upload/${left}`, { 'x-chunk-index': '0' }, 'abc', 'PUT')).statusCode, 200)
  t.equal((await upload(`/upload/${id}/complete`, {}, '')).statusCode, 201)
  t.match(await found('wswan', 'Chunks.ws'), { library_id: disk.id })
  t.equal(await readFile(disk.at('roms/wswan/Chunks.ws'), 'utf8'), 'abcdef')

  await sql("update rom_uploads set created_at = now() - interval '2 days' where id = $1", [left])
  t.match(await runTask('cleanup_uploads'), { status: 'finished', meta: { cleanup_stats: { uploads: 1, files: 1 } } })
  t.same((await readdir(disk.at('roms/wswan'))).sort(), ['Chunks.ws', 'New.ws', 'Second.ws'])

  const again = await begin('Later.ws')
  await call('PUT', `/api/libraries/${disk.id}`, { writable: false })
  const refused = await upload(`/upload/${again}`, { 'x-chunk-index': '0' }, 'abc', 'PUT')
  t.equal(refused.statusCode, 409, refused.body)
  const reason = "The library 'growing' is read-only; set its writable to true, such as by libraries.growing.writable in config.yml, " +
    "to change files in its folder 'growing'"
  t.equal(refused.json().detail, reason)
  const exported = await call('POST', '/api/export/gamelist-xml', { platforms: ['wswan'] })
  t.equal(exported.statusCode, 500)
  t.match(exported.json().detail, reason)
})

t.test('nothing in an unmounted library is deleted, renamed or marked missing', async (t) => {
  await put({ 'roms/pokemini/Here.min': 'here' })
  const disk = await addDisk(t, 'away', { 'roms/pokemini/There.min': 'there', 'roms/pokemini/Folder/a.bin': 'a', 'bios/pokemini/bios.min': 'b' })
  await scan()
  const ids = (await rows('pokemini')).map((rom) => rom.id)
  const [here, folder, there] = ids
  const [file] = await sql<{ id: number }>('select id from rom_files where rom_id = $1', [folder])
  const [firmware] = await sql<{ id: number }>("select id from firmware where file_path = 'bios/pokemini'")
  for (const leavesEmpty of [false, true]) {
    await disk.unmount()
    if (leavesEmpty) await mkdir(disk.dir)
    const missing = /The library 'away' is not mounted: its folder .*Mount its disk, then try again/
    for (const permanently of [false, true]) {
      t.match((await call('POST', '/api/roms/delete', { roms: [there, folder], delete_from_fs: [there, folder], permanently })).json(), {
        successful_items: 0, failed_ids: [there, folder], errors: [missing, missing]
      })
    }
    t.match((await call('POST', '/api/firmware/delete', { firmware: [firmware?.id], delete_from_fs: [firmware?.id] })).json(), {
      failed_ids: [firmware?.id], errors: [missing]
    })
    const refused = [
      await call('DELETE', `/api/roms/${folder}/files/${file?.id}`), await call('PUT', `/api/roms/${there}`, { fs_name: 'New.min' }),
      await call('POST', `/api/roms/${there}/convert-to-folder`),
      await upload(`/${folder}/manuals/files`, { 'x-upload-filename': 'm.pdf' }, 'x'),
      await call('POST', '/api/platforms', { fs_slug: 'a platform that nobody has' }, admin).then(async (reply) => {
        t.equal(reply.statusCode, 201, 'what no library has goes into one that is mounted')
        return await call('DELETE', `/api/roms/${folder}/files/${file?.id}?permanently=true`)
      })
    ]
    for (const reply of refused) {
      t.match({ status: reply.statusCode, ...reply.json() }, { status: 503, detail: missing })
    }
    await rm(disk.dir, { recursive: true, force: true })
    await disk.mount()
  }
  t.same((await rows('pokemini')).map((rom) => rom.id), ids)
  t.match(await sql('select 1 from firmware where id = $1', [firmware?.id]), [{}])
  t.match((await call('GET', '/api/trash')).json(), { items: [], total: 0 })

  const outcome = (await call('POST', '/api/roms/delete', { roms: [here, there], delete_from_fs: [here, there] })).json()
  t.match(outcome, { successful_items: 2 })
  await disk.unmount()
  const listed = (await call('GET', '/api/trash')).json<{ items: { id: number, rom_id: number, problem: string | null }[] }>().items
  t.match(listed.find((item) => item.rom_id === here), { problem: null })
  const gone = listed.find((item) => item.rom_id === there)
  t.match(gone, { problem: /^the library 'away' is not mounted/ })
  for (const verb of ['restore', 'empty']) {
    t.match((await call('POST', `/api/trash/${verb}`, { items: [gone?.id] })).json(), { successful_items: 0, errors: [/The library 'away' is not mounted/] })
  }
  await disk.mount()
  t.match((await call('POST', '/api/trash/restore', { items: listed.map((item) => item.id) })).json(), { successful_items: 2, failed_ids: [] })
  t.same((await rows('pokemini')).map((rom) => [rom.id, rom.library_id]), [[here, 1], [folder, disk.id], [there, disk.id]])
  t.equal(await readFile(disk.at('roms/pokemini/There.min'), 'utf8'), 'there')
})

t.test('a library with a new name or folder keeps its id', async (t) => {
  const disk = await addDisk(t, 'old name', { 'roms/psx/Game.chd': 'x' }, { watched: false, structure: 'roms/{platform}/{game}' })
  const renamed = await call('PUT', `/api/libraries/${disk.id}`, { name: 'new name' })
  t.match(renamed.json(), {
    id: disk.id, name: 'new name', path: disk.dir, is_watched: false, structure: 'roms/{platform}/{game}'
  })
  await rename(disk.dir, `${disk.dir}-elsewhere`)
  const moved = await call('PUT', `/api/libraries/${disk.id}`, { path: `${disk.dir}-elsewhere`, structure: null })
  t.match(moved.json(), { id: disk.id, path: `${disk.dir}-elsewhere`, is_available: true, structure: null })
  const both = await call('PUT', `/api/libraries/${disk.id}`, { name: 'x', path: disk.dir })
  t.equal(both.statusCode, 400)
})

t.test('an invalid library is refused with a reason', async (t) => {
  const disk = await addDisk(t, 'taken', { 'roms/gg/A.gg': 'x' })
  await writeFile(join(root, 'file'), '')
  const add = async (name: string, path: string, headers = admin) => {
    const reply = await call('POST', '/api/libraries', { name, path }, headers)
    return `${reply.statusCode} ${reply.json().detail}`
  }
  t.match(await add('taken', join(root, 'nowhere')), /^409 A library 'taken' already exists/)
  t.match(await add('x', 'relative'), /^400 The path 'relative' is not absolute/)
  t.match(await add('x', join(root, 'nowhere')), /^400 There is no folder/)
  t.match(await add('x', join(root, 'file')), /^400 .* is not a folder/)
  t.match(await add('x', disk.at('roms')), /^409 .* overlaps with the library 'taken'/)
  t.match(await add('x', root), /^409 .* overlaps with the library 'library'/)
  await symlink(disk.at('roms'), join(root, 'link'))
  t.match(await add('x', join(root, 'link')), /^409 .* overlaps with the library 'taken'/)
  await symlink(dataDir, join(root, 'to-data'))
  await mkdir(join(dataDir, 'assets'), { recursive: true })
  for (const folder of [dataDir, join(dataDir, 'assets'), join(root, 'to-data', 'assets'), join(SERVER_DIR, 'node_modules')]) {
    t.match(await add('x', folder), /^400 .* overlaps with .*, where the server keeps its own files/, folder)
  }
  await symlink('/etc', join(root, 'to-etc'))
  for (const folder of ['/etc', '/usr/share', '/proc/self', '/var', join(root, 'to-etc')]) {
    t.match(await add('x', folder), /^400 .* is a folder of the system/, folder)
  }
  t.match(await add('x', root, member), /^403/)
  t.match(await add('__proto__', disk.at('roms')), /^400 The name '__proto__' does not begin with a letter or digit/)
  t.equal((await call('DELETE', '/api/libraries/99')).statusCode, 404)
  await chmod(configFile, 0o444)
  await mkdir(join(root, 'plain'))
  t.match(await add('x', join(root, 'plain')), /^500 Config file is not writable/)
  await chmod(configFile, 0o600)
})

t.test('a forbidden folder in a changed config.yml is not read, written or watched', async (t) => {
  await put({ 'roms/ws/Kept.ws': 'kept' })
  const before = await readFile(configFile, 'utf8')
  t.teardown(() => writeFile(configFile, before))
  await writeFile(configFile, JSON.stringify({
    libraries: { library: { path: libraryDir }, system: { path: '/usr/share' }, inner: { path: join(libraryDir, 'roms') } }
  }))
  t.match(await libraries(), [
    { name: 'library', is_available: true, problem: null },
    { is_available: false, problem: /^'\/usr\/share' is a folder of the system.*, as libraries\.system\.path in config\.yml$/ },
    { is_available: false, problem: /roms' overlaps with the library 'library'.*, as libraries\.inner\.path in config\.yml$/ }
  ])
  t.match((await call('GET', '/api/health/ready')).json(), {
    checks: { libraries: { status: 'failed', reason: /^2 of 3 libraries cannot be read/ } }
  })
  const roots = await app.library.list()
  t.same(roots.map((root) => root.is_writable), [true, false, false])
  t.same(roots.map((root) => root.is_watched), [true, false, false])
  const refused = await Promise.all(roots.slice(1).map(({ id }) => app.library.getWritable(id).catch(String)))
  for (const reason of refused) t.match(reason, /is not used: .* in config\.yml/)
  t.match(test.problems(await scan()), [/'system' was not scanned.*folder of the system/, /'inner' was not scanned.*overlaps/])
  t.match(await sql('select library_id from roms where fs_name = $1', ['Kept.ws']), [{ library_id: 1 }])
})

t.test('of two concurrent libraries with one name, one is created, one is a conflict', async (t) => {
  for (let round = 0; round < 4; round++) {
    const paths = ['one', 'two'].map((name) => join(root, `${name} ${round}`))
    for (const path of paths) await mkdir(path, { recursive: true })
    const replies = await Promise.all(paths.map((path) => call('POST', '/api/libraries', { name: `Same ${round}`, path })))
    t.same(replies.map((reply) => reply.statusCode).sort(), [201, 409])
    const added = (await libraries()).filter(({ name }) => name === `Same ${round}`)
    const made = replies.filter((reply) => reply.statusCode === 201)
    t.same(added.map(({ path }) => path), made.map((reply) => reply.json<LibraryView>().path))
    for (const { id } of added) await call('DELETE', `/api/libraries/${id}?forget=true`)
  }
})

t.test('the last library cannot be removed', async (t) => {
  const reply = await call('DELETE', '/api/libraries/1')
  t.equal(reply.statusCode, 409)
  t.match(reply.json().detail, /is the only library/)
})

t.test('each library has one row, and keeps it while its name or folder stays', async () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 })
  const roots = names.chain((some) => fc.tuple(...some.map((name) => fc.constantFrom('/1', '/2', '/3', '/4').map((dir) => ({ name, dir })))))
  fc.assert(fc.property(fc.array(roots, { maxLength: 5 }), (history) => {
    const known = new Map<number, { id: number, name: string, root: string }>()
    for (const wanted of history) {
      const before = [...known.values()]
      const assigned = assignRows(wanted, before)
      equal(new Set(assigned.map(({ id }) => id)).size, wanted.length)
      for (const row of assigned) {
        const same = before.find(({ name }) => name === row.name)
        if (same !== undefined) equal(row.id, same.id)
        known.set(row.id, row)
      }
      deepEqual(assignRows(wanted, [...known.values()]), assigned, 'nothing changes when nothing changed')
    }
  }), { numRuns: 50 })
})
