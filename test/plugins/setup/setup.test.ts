import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type TestApp, dropUsers, shareTestApp } from '../../support.ts'

const fresh = shareTestApp(t)

/** Returns the headers of a browser without an account that has visited before. */
async function strangerHeaders ({ app }: TestApp): Promise<Record<string, string>> {
  const cookie = (await app.inject({ url: '/api/heartbeat' })).cookies.find(({ name }) => name === 'svc_csrftoken')
  const value = cookie?.value ?? ''
  return { cookie: `svc_csrftoken=${value}`, 'x-csrftoken': value }
}t.test('the wizard shows the existing folders and every known platform', async (t) => {
  const testApp = await fresh(t, { library: { snes: { roms: { 'a.sfc': '', b: {}, '.hidden': '', 'gamelist.xml': '', images: {} } }, gb: { roms: {} } } })
  await dropUsers(testApp)
  const reply = await testApp.app.inject({ url: '/api/setup/library' })
  t.equal(reply.statusCode, 200)
  const { detected_structure: structure, existing_platforms: existing, supported_platforms: supported } = reply.json()
  t.equal(structure, 'struct_b')
  t.same(existing, [{ fs_slug: 'gb', rom_count: 0 }, { fs_slug: 'snes', rom_count: 2 }])
  t.ok(supported.length > 400)
  t.match(supported.find(({ slug }: { slug: string }) => slug === 'snes'), { id: -1, fs_slug: 'snes', igdb_id: 19 })
})

t.test('the wizard names folders that lie directly in a library', async (t) => {
  const { app, admin } = await fresh(t, { library: { snes: { 'a.sfc': '' }, gb: {}, bios: {}, '.hidden': {} } })
  const reply = await app.inject({ url: '/api/setup/library', headers: admin })
  t.match(reply.json(), { existing_platforms: [], misplaced_folders: [{ roms_folder: 'roms', folders: ['gb', 'snes'] }] })
})

t.test('the wizard lists no folders once ROMs are stored', async (t) => {
  const { app, admin } = await fresh(t, { library: { roms: { snes: { 'a.sfc': '' } } } })
  await app.pg.query("insert into platforms (slug, fs_slug, name) values ('snes', 'snes', 'SNES')")
  await app.pg.query(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    select id, 'a.sfc', 'roms/snes', 'a', 'a' from platforms`)
  const reply = await app.inject({ url: '/api/setup/library', headers: admin })
  t.match(reply.json(), { detected_structure: 'struct_a', existing_platforms: [] })
})

t.test('platform folders are created in structure A if the library has none', async (t) => {
  const testApp = await fresh(t)
  await dropUsers(testApp)
  const headers = await strangerHeaders(testApp)
  const create = (payload: unknown[]) => testApp.app.inject({ method: 'POST', url: '/api/setup/platforms', headers, payload })
  t.same((await create([])).json(), { success: true, created_count: 0, message: 'Platform folders created: 0' })
  const reply = await create(['snes', 'nes', 'snes'])
  t.equal(reply.statusCode, 201)
  t.match(reply.json(), { success: true, created_count: 3 })
  t.ok(existsSync(join(testApp.libraryDir, 'roms', 'nes')))
  t.same((await testApp.app.inject({ url: '/api/setup/library', headers })).json<{ existing_platforms: { fs_slug: string }[] }>()
    .existing_platforms.map((platform) => platform.fs_slug), ['nes', 'snes'])
  t.same((await testApp.app.inject({ url: '/api/heartbeat' })).json().FILESYSTEM.FS_PLATFORMS, [], 'guests are told none')
})

t.test('platform folders follow the existing structure', async (t) => {
  const { app, admin, libraryDir } = await fresh(t, { library: { snes: { roms: {} } } })
  const reply = await app.inject({ method: 'POST', url: '/api/setup/platforms', headers: admin, payload: ['gb'] })
  t.equal(reply.statusCode, 201)
  t.ok(existsSync(join(libraryDir, 'gb', 'roms')))
})

t.test('an invalid folder name creates no folder', async (t) => {
  const { app, admin, libraryDir } = await fresh(t)
  for (const name of ['../outside', 'a/b', '', '..', '/etc/svc']) {
    const reply = await app.inject({ method: 'POST', url: '/api/setup/platforms', headers: admin, payload: ['snes', name] })
    t.equal(reply.statusCode, 400, JSON.stringify(name))
    t.match(reply.json().detail, /^The path ".*" is refused: /)
  }
  t.notOk(existsSync(join(libraryDir, 'roms', 'snes')))
  const object = await app.inject({ method: 'POST', url: '/api/setup/platforms', headers: admin, payload: { a: 1 } })
  t.equal(object.statusCode, 422)
})

t.test('folders that cannot be created are reported', async (t) => {
  const { app, admin, libraryDir } = await fresh(t, { library: { roms: {} } })
  writeFileSync(join(libraryDir, 'roms', 'snes'), 'a file in the way')
  const reply = await app.inject({ method: 'POST', url: '/api/setup/platforms', headers: admin, payload: ['snes', 'gb'] })
  t.equal(reply.statusCode, 500)
  t.same(reply.json(), { detail: 'These folders could not be created: snes' })
  t.ok(existsSync(join(libraryDir, 'roms', 'gb')))
})

t.test('over the network the wizard needs the setup code', async (t) => {
  const testApp = await fresh(t, { library: { roms: { snes: {} } } })
  await dropUsers(testApp)
  const { app } = testApp
  const headers = await strangerHeaders(testApp)
  const code = await app.users.findSetupCode()
  const read = (query: string, remoteAddress = '198.51.100.7') => app.inject({ url: `/api/setup/library${query}`, headers, remoteAddress })
  const write = (query: string, remoteAddress = '198.51.100.7') => app.inject({
    method: 'POST', url: `/api/setup/platforms${query}`, headers, remoteAddress, payload: ['gb']
  })
  for (const query of ['', '?setup_code=', '?setup_code=guess']) {
    for (const ask of [read, write]) t.match((await ask(query)).json(), { detail: /setup code/ }, query)
  }
  t.notOk(existsSync(join(testApp.libraryDir, 'roms', 'gb')))
  t.equal((await read(`?setup_code=${code}`)).statusCode, 200)
  t.equal((await write(`?setup_code=${code}`)).statusCode, 201)
  t.equal((await read('', '127.0.0.1')).statusCode, 200, 'on the machine itself it does not')
  const statuses: number[] = []
  for (let index = 0; index < 15; index++) statuses.push((await read('?setup_code=guess', '198.51.100.8')).statusCode)
  t.ok(statuses.includes(429), 'guesses are limited')
})

t.test('with an administrator the wizard needs a credential with the scope', async (t) => {
  const testApp = await fresh(t)
  const { app, createUser, admin } = testApp
  const alice = await createUser('alice')
  const stranger = await strangerHeaders(testApp)
  const read = async (headers: Record<string, string>) => (await app.inject({ url: '/api/setup/library', headers })).statusCode
  const write = async (headers: Record<string, string>) =>
    (await app.inject({ method: 'POST', url: '/api/setup/platforms', headers, payload: ['snes'] })).statusCode
  t.same([await read(stranger), await write(stranger)], [403, 403])
  t.same([await read(alice), await write(alice)], [200, 403], 'users may read platforms')
  t.same([await read(admin), await write(admin)], [200, 201])
})
