import { deepEqual, equal } from 'node:assert/strict'
import { chmod, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { SERVER_DIR } from '../../../core/server-dir.ts'
import type { LibraryView } from '../../../plugins/libraries/schemas.ts'
import { assignRows } from '../../../plugins/library/roots.ts'
import { startLibraries } from './libraries-support.ts'

const {
  test, app, admin, createUser, put, scan, sql, libraryDir, dataDir, root, call, addDisk
} = await startLibraries(t)

const configFile = join(dataDir, 'config.yml')
const member = await createUser('member')
const libraries = async (headers = admin) => (await call('GET', '/api/libraries', undefined, headers)).json<LibraryView[]>()

t.test('without a list there is one library, the folder of SVC_LIBRARY_DIR', async (t) => {
  const [only, ...others] = await libraries()
  t.match(only, {
    id: 1, name: 'library', path: libraryDir, is_configured: true, is_available: true, problem: null, rom_count: 0, last_scan: null
  })
  t.ok((only?.free_bytes ?? 0) > 0 && (only?.total_bytes ?? 0) > (only?.free_bytes ?? 0))
  t.same(others, [])
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
