import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import families from '../../../plugins/platforms/data/families.json' with { type: 'json' }
import { Platform } from '../../../plugins/platforms/entities.ts'
import { Firmware } from '../../../plugins/firmware/entities.ts'
import { Rom } from '../../../plugins/roms/entities.ts'
import { type TestApp, buildTestApp, shareTestApp } from '../../support.ts'
import { countQueries } from '../roms/support.ts'

const fresh = shareTestApp(t)

type View = Record<string, unknown> & { id: number, fs_slug: string }

async function addPlatform ({ app }: TestApp, fsSlug: string): Promise<Platform> {
  return (await app.platforms.ensure(app.db, fsSlug)).platform
}

async function addRom ({ app }: TestApp, platform: Platform, name: string, size: number): Promise<void> {
  const db = app.db
  db.em.create(Rom, {
    platform: db.em.getReference(Platform, platform.id), fs_name: name, fs_path: `roms/${platform.fs_slug}`,
    fs_name_no_tags: name, fs_name_no_ext: name, fs_size_bytes: size
  })
  await db.em.flush()
}

t.test('a created platform has a folder, its facts and no ROMs', async (t) => {
  const test = await fresh(t, { library: { roms: {} } })
  const reply = await test.app.inject({ method: 'POST', url: '/api/platforms', headers: test.admin, payload: { fs_slug: 'snes' } })
  t.equal(reply.statusCode, 201)
  t.match(reply.json(), {
    slug: 'snes', fs_slug: 'snes', igdb_id: 19, igdb_slug: 'snes', rom_count: 0, fs_size_bytes: 0, firmware: [],
    is_identified: true, is_unidentified: false, custom_name: null, missing_from_fs: false
  })
  t.ok(existsSync(join(test.libraryDir, 'roms', 'snes')))
})

t.test('a platform folder is created where the library stores its ROMs', async (t) => {
  const test = await fresh(t, { library: { nes: { roms: {} } } })
  const create = (slug: string) =>
    test.app.inject({ method: 'POST', url: '/api/platforms', headers: test.admin, payload: { fs_slug: slug } })
  t.equal((await create('snes')).statusCode, 201)
  t.ok(existsSync(join(test.libraryDir, 'snes', 'roms')))
  t.equal((await create('snes')).statusCode, 201, 'a folder that is there already is fine')
})

t.test('a name that leaves the library or is excluded is refused, without a folder', async (t) => {
  const test = await fresh(t, { library: { roms: {} } })
  for (const slug of ['../x', '/etc', '..', '.', 'a/b', 'a\\b', 'a\nb', 'C:x', 'é'.repeat(200), '@eaDir']) {
    const reply = await test.app.inject({ method: 'POST', url: '/api/platforms', headers: test.admin, payload: { fs_slug: slug } })
    t.equal(reply.statusCode, 400, JSON.stringify(slug))
    t.type(reply.json().detail, 'string')
  }
  t.notOk(existsSync(join(test.libraryDir, 'x')))
  t.same((await test.app.inject({ url: '/api/platforms', headers: test.admin })).json(), [])
})

t.test('platforms are listed by name with their counts, sizes and firmware', async (t) => {
  const test = await fresh(t)
  const snes = await addPlatform(test, 'snes')
  const gb = await addPlatform(test, 'gb')
  await addRom(test, snes, 'a.sfc', 3_000_000_000)
  await addRom(test, snes, 'b.sfc', 2)
  const db = test.app.db
  for (const name of ['z (v1).bin', 'a.bin']) {
    db.em.create(Firmware, { platform: db.em.getReference(Platform, gb.id), file_name: name, file_path: 'bios/gb', file_size_bytes: 7 })
  }
  await db.em.flush()
  const views = (await test.app.inject({ url: '/api/platforms', headers: test.admin })).json<View[]>()
  t.same(views.map((view) => view.fs_slug), ['gb', 'snes'])
  t.match(views[0], { firmware_count: 2, rom_count: 0 })
  t.match(views[0]?.firmware, [{ file_name: 'a.bin' }, {
    file_name: 'z (v1).bin', file_name_no_tags: 'z', file_name_no_ext: 'z (v1)', file_extension: 'bin',
    full_path: 'bios/gb/z (v1).bin', file_size_bytes: 7
  }])
  t.match(views[1], { rom_count: 2, fs_size_bytes: 3_000_000_002 })
  t.same((await test.app.inject({ url: '/api/platforms/identifiers', headers: test.admin })).json(), [gb.id, snes.id])
})

t.test('updated_after lists only platforms changed strictly after that time', async (t) => {
  const test = await fresh(t)
  await addPlatform(test, 'gb')
  const [view] = (await test.app.inject({ url: '/api/platforms', headers: test.admin })).json<View[]>()
  const after = (time: string) => test.app.inject({ url: '/api/platforms', headers: test.admin, query: { updated_after: time } })
  t.same((await after(String(view?.updated_at))).json(), [])
  t.equal((await after('2020-01-01T00:00:00Z')).json<View[]>().length, 1)
  t.equal((await after('yesterday')).statusCode, 422)
})

t.test('a list of twenty platforms takes as many queries as a list of one', async (t) => {
  const test = await fresh(t)
  const count = () => countQueries(test, async () => {
    t.equal((await test.app.inject({ url: '/api/platforms', headers: test.admin })).statusCode, 200)
  })
  await addPlatform(test, 'gb')
  // The first call also checks the password.
  await count()
  await addPlatform(test, 'gba')
  const one = await count()
  for (let i = 0; i < 20; i++) await addPlatform(test, `custom-${i}`)
  t.equal(await count(), one)
})

t.test('every known platform is listed once, with stored values if it has a row', async (t) => {
  const test = await fresh(t)
  await addPlatform(test, 'super-nintendo')
  await addPlatform(test, 'psx')
  await addPlatform(test, 'PlayStation')
  const views = (await test.app.inject({ url: '/api/platforms/supported', headers: test.admin })).json<View[]>()
  t.ok(views.length > 400)
  t.equal(new Set(views.map((view) => view.slug)).size, views.length)
  t.match(views.find((view) => view.slug === 'psx'), { fs_slug: 'psx' }, 'the folder named as the slug wins')
  t.match(views.find((view) => view.slug === 'n64'), { id: -1, fs_slug: 'n64', rom_count: 0, url_logo: '' })
})

t.test('platforms name their family, and each family has only known platforms', async (t) => {
  const test = await fresh(t)
  const views = (await test.app.inject({ url: '/api/platforms/supported', headers: test.admin })).json<View[]>()
  const familyOf = (wanted: string) => {
    const view = views.find(({ slug }) => slug === wanted)
    return [view?.family_name, view?.family_slug]
  }
  t.same(familyOf('snes'), ['Nintendo', 'nintendo'])
  t.same(familyOf('psp'), ['PlayStation', 'playstation'])
  t.same(familyOf('ti-83'), ['Texas Instruments', 'texas-instruments'])
  t.same(familyOf('arcade'), [null, null], 'arcades are of many makers')
  const slugs = Object.values(families).flat()
  t.same(slugs.filter((slug) => !views.some((view) => view.slug === slug)), [])
  t.equal(new Set(slugs).size, slugs.length, 'each platform is of one family')
})

t.test('folders without a row are shown with the slug they would get', async (t) => {
  const test = await fresh(t, { library: { roms: { gb: {}, 'My Consoles': {}, '@eaDir': {}, sega_md: {} } } })
  await addPlatform(test, 'gb')
  const views = (await test.app.inject({ url: '/api/platforms/filesystem', headers: test.admin })).json<View[]>()
  t.same(views.map((view) => view.fs_slug).sort(), ['My Consoles', 'sega_md'])
  t.match(views.find((view) => view.fs_slug === 'My Consoles'), { id: -1, slug: 'My Consoles', is_unidentified: true })
})

t.test('an unreadable library is reported without its path', async (t) => {
  const test = await buildTestApp(t, { env: { SVC_LIBRARY_DIR: '/nonexistent/library' } })
  const reply = await test.app.inject({ url: '/api/platforms/filesystem', headers: test.admin })
  t.equal(reply.statusCode, 503)
  t.notMatch(reply.body, '/nonexistent')
})

t.test('a custom name is shown and an empty text clears it', async (t) => {
  const test = await fresh(t)
  const { id } = await addPlatform(test, 'gb')
  const put = async (payload: object) =>
    (await test.app.inject({ method: 'PUT', url: `/api/platforms/${id}`, headers: test.admin, payload })).json<View>()
  t.match(await put({ custom_name: 'Brick', description: 'Grey' }), { custom_name: 'Brick', display_name: 'Brick', description: 'Grey' })
  t.match(await put({ description: null }), { custom_name: 'Brick', description: 'Grey' })
  t.match(await put({ custom_name: '' }), { custom_name: null, display_name: 'Game Boy', description: 'Grey' })
  const tooLong = await test.app.inject({
    method: 'PUT', url: `/api/platforms/${id}`, headers: test.admin, payload: { custom_name: 'x'.repeat(401) }
  })
  t.equal(tooLong.statusCode, 422)
})

t.test('concurrent requests create a platform once, and it keeps its custom name', async (t) => {
  const test = await fresh(t)
  const results = await Promise.all(Array.from({ length: 5 }, () => test.app.platforms.ensure(test.app.db, 'gb')))
  t.equal(results.filter((result) => result.isNew).length, 1)
  t.equal(new Set(results.map((result) => result.platform.id)).size, 1)
  const db = test.app.db
  await db.em.nativeUpdate(Platform, { fs_slug: 'gb' }, { custom_name: 'Brick', missing_from_fs: true })
  const { platform, isNew } = await test.app.platforms.ensure(db, 'gb')
  t.match(platform, { custom_name: 'Brick', missing_from_fs: false })
  t.equal(isNew, false)
  const again = await test.app.platforms.ensure(db, 'gb')
  t.equal(again.platform.updated_at.getTime(), platform.updated_at.getTime(), 'nothing changed')
})

t.test('a deleted platform loses its ROMs and keeps its folder', async (t) => {
  const test = await fresh(t, { library: { roms: { gb: { 'a.gb': 'a' } } } })
  const platform = await addPlatform(test, 'gb')
  await addRom(test, platform, 'a.gb', 1)
  const url = `/api/platforms/${platform.id}`
  const member = await test.createUser('member')
  t.equal((await test.app.inject({ method: 'DELETE', url, headers: member })).statusCode, 403)
  t.equal((await test.app.inject({ method: 'DELETE', url, headers: test.admin })).statusCode, 200)
  t.equal(await test.app.db.em.count(Rom), 0)
  t.ok(existsSync(join(test.libraryDir, 'roms/gb/a.gb')))
  const gone = await test.app.inject({ url, headers: test.admin })
  t.equal(gone.statusCode, 404)
  t.same(gone.json(), { detail: `Platform with ID '${platform.id}' not found` })
})

t.test('an invalid id is refused as an unknown path', async (t) => {
  const { app, admin } = await fresh(t)
  for (const id of ['0', '-1', 'x', '1.5']) {
    t.equal((await app.inject({ url: `/api/platforms/${id}`, headers: admin })).statusCode, 422, id)
  }
  t.equal((await app.inject({ url: '/api/platforms' })).statusCode, 401)
})
