import { access, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import sharp from 'sharp'
import t from 'tap'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { defineCleanupMissing } from '../../../plugins/scans/disk/cleanup-missing.ts'
import { until } from '../../until.ts'
import { buildScanTest, startWorker } from '../scans/support.ts'
import { loadConfig } from '../../load-config.ts'

interface TaskInfo { name: string, destructive: boolean }

const test = await buildScanTest(t, {
  providers: ['alpha', 'pictures'],
  config: { filesystem: { skip_hash_calculation: true }, plugins: { pictures: { refresh_cron: '15 2 * * 1' } } },
  env: { ENABLE_SCHEDULED_RESCAN: 'true', SCHEDULED_RESCAN_CRON: '30 4 * * *' }
})
const { app, admin, put, scan, sql, finished, error, dataDir, libraryDir } = test
const pictures = scriptOf('pictures')
const resources = join(dataDir, 'resources')

t.beforeEach(resetScripts)

const get = (url: string) => app.inject({ url, headers: admin })
const run = (name: string, payload?: object | string) => app.inject({
  method: 'POST', url: `/api/tasks/run/${name}`, headers: admin, ...(payload === undefined ? {} : { payload })
})
const exists = (path: string) => access(join(resources, path)).then(() => true, () => false)

async function runToEnd (name: string, payload?: object) {
  const answer = await run(name, payload)
  if (answer.statusCode !== 200) throw new Error(answer.body)
  const { task_id: id } = answer.json<{ task_id: string }>()
  const { status, meta } = await finished(id)
  return { id, status, meta: meta as Record<string, unknown> }
}

t.test('the catalogue has three groups, and every task says if it is destructive', async (t) => {
  const answer = await get('/api/tasks')
  const groups = answer.json<Record<'scheduled' | 'manual' | 'watcher', TaskInfo[]>>()
  t.same(Object.keys(groups), ['scheduled', 'manual', 'watcher'])
  const entries = [...groups.scheduled, ...groups.manual, ...groups.watcher]
  t.same(entries.filter((entry) => typeof entry.destructive !== 'boolean'), [])
  t.match(groups.scheduled.find(({ name }) => name === 'scan_library'), {
    type: 'scan', enabled: true, manual_run: true, cron_string: '30 4 * * *', destructive: false
  })
  t.match(groups.scheduled.find(({ name }) => name === 'cleanup_orphaned_resources'), { enabled: false, manual_run: true })
  t.match(groups.scheduled.find(({ name }) => name === 'update_pictures_metadata'), {
    type: 'update', enabled: true, manual_run: true, cron_string: '15 2 * * 1', destructive: false
  })
  t.match(groups.manual.find(({ name }) => name === 'cleanup_missing_roms'), { type: 'cleanup', destructive: true, manual_run: true })
  t.notOk(entries.some(({ name }) => name === 'update_alpha_metadata'), 'a source without an index has no task')
})

t.test('a provider that is switched off has no task', async (t) => {
  const reports = app.registry.report()
  const applyOffered = (isOffered: boolean) => app.registry.applyReports(
    reports.map((report) => report.record.key === 'pictures' ? { ...report, is_offered: isOffered } : report))
  applyOffered(false)
  t.teardown(() => applyOffered(true))
  t.notMatch((await get('/api/tasks')).body, /update_pictures_metadata/)
  t.match((await run('update_pictures_metadata')).json(), { detail: /^Task 'update_pictures_metadata' not found/ })
  applyOffered(true)
  t.match((await get('/api/tasks')).body, /update_pictures_metadata/)
})

t.test('a due schedule scans the library', async (t) => {
  await put({ 'roms/gg/Due.gg': 'due' })
  const [due] = await sql<{ name: string, data: object }>("select name, data from pgboss.schedule where key = 'scan_library'")
  // The queue does the same at the scheduled minute.
  await app.jobs.send(due?.name ?? '', due?.data ?? {})
  await until(async () => (await test.roms('gg')).length === 1, 'the library is scanned')
  const titles = ['Scheduled rescan', 'Quick Scan']
  await until(async () => (await sql("select 1 from tasks where title = any($1) and status = 'finished'", [titles])).length === 2, 'both end')
  t.match(await sql("select payload, user_id from tasks where title = 'Quick Scan'"),
    [{ payload: { type: 'quick', platforms: [], platform_fs_slugs: [], roms_ids: [] }, user_id: null }])
})

t.test('a request for the rescan returns the scan, with or without an empty body', async (t) => {
  for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'application/json; charset=utf-8', 'content-length': '0' }]) {
    const answer = await app.inject({ method: 'POST', url: '/api/tasks/run/scan_library', headers: { ...admin, ...headers } })
    t.match(answer, { statusCode: 200 })
    const { task_id: id } = answer.json<{ task_id: string }>()
    t.match(await finished(id), { task_name: 'Quick Scan', status: 'finished', meta: { scan_stats: { total_roms: 1 } } })
  }
})

t.test('V8: the database has only the schedules that are switched on', async (t) => {
  const schedules = () => sql<{ key: string, cron: string }>("select key, cron from pgboss.schedule where name = 'schedules' order by key")
  t.same(await schedules(), [
    { key: 'cleanup_assets', cron: '40 4 * * *' },
    { key: 'cleanup_audit_log', cron: '30 4 * * *' },
    { key: 'cleanup_conversion_cache', cron: '0 4 * * *' },
    { key: 'cleanup_sync_sessions', cron: '23 * * * *' },
    { key: 'cleanup_uploads', cron: '0 * * * *' },
    { key: 'empty_trash', cron: '50 4 * * *' },
    { key: 'scan_library', cron: '30 4 * * *' }, { key: 'update_pictures_metadata', cron: '15 2 * * 1' }
  ])
  const id = crypto.randomUUID()
  await sql(`insert into tasks (id, task_key, title, type, status)
    values ($1, 'filesystem_watcher', 'Rescan on filesystem change', 'scan', 'scheduled')`, [id])
  const worker = await startWorker(t, {
    databaseUrl: test.databaseUrl,
    config: loadConfig({
      SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: 'a key for tests only', SCHEDULED_RESCAN_CRON: '0 1 * * *',
      AUDIT_LOG_RETENTION_DAYS: '0', ENABLE_SCHEDULED_CLEANUP_SYNC_SESSIONS: 'false',
      ENABLE_SCHEDULED_CLEANUP_ORPHANED_RESOURCES: 'true', SCHEDULED_CLEANUP_ORPHANED_RESOURCES_CRON: '0 0 31 H(2-2) *'
    }).config
  }, ['pictures'])
  t.same(await schedules(), [
    { key: 'cleanup_assets', cron: '40 4 * * *' }, { key: 'cleanup_conversion_cache', cron: '0 4 * * *' },
    { key: 'cleanup_uploads', cron: '0 * * * *' }, { key: 'empty_trash', cron: '50 4 * * *' },
    { key: 'update_pictures_metadata', cron: '15 2 * * 1' }
  ], 'what was switched off is gone, and a line that means no time keeps no worker from starting')
  t.match(await get(`/api/tasks/${id}`).then((answer) => answer.json<object>()), { status: 'canceled' },
    'as is the scan that the watcher had put off')
  await worker.close()
})

t.test('an unknown or automatic task, or one with invalid arguments, is refused', async (t) => {
  t.match(await run('no_such_task'), { statusCode: 404, body: /Task 'no_such_task' not found\. The tasks are: .*cleanup_missing_roms/ })
  t.match(await run('filesystem_watcher'), { statusCode: 404 })
  t.match(await run('cleanup_audit_log'), { statusCode: 400, body: "{\"detail\":\"Task 'cleanup_audit_log' cannot be run\"}" })
  for (const payload of [[], 'text', 5]) {
    const answer = await app.inject({
      method: 'POST', url: '/api/tasks/run/cleanup_missing_roms', headers: { ...admin, 'content-type': 'application/json' },
      payload: JSON.stringify(payload)
    })
    t.equal(answer.statusCode, 422, JSON.stringify(payload))
  }
  t.same((await run('convert_library')).json<{ detail: { loc: string[] }[] }>().detail.map(({ loc }) => loc), [['body', 'to']])
  t.match((await run('cleanup_missing_roms', { platform_id: 'snes' })).json(), { detail: [{ loc: ['body', 'platform_id'] }] })
  t.match((await run('cleanup_missing_roms', { platform: 1 })).json(), { detail: [{ loc: ['body', 'platform'] }] })
})

t.test('only callers who may run tasks see and start them', async (t) => {
  const user = await test.createUser('reader')
  for (const url of ['/api/tasks', '/api/tasks/status', `/api/tasks/${crypto.randomUUID()}`]) {
    t.equal((await app.inject({ url, headers: user })).statusCode, 403, url)
  }
  const answer = await app.inject({ method: 'POST', url: '/api/tasks/run/cleanup_missing_roms', headers: user })
  t.equal(answer.statusCode, 403)
})

t.test('a destructive task needs the scope and the grant for the deleted objects', async (t) => {
  const tokenOf = async (scopes: string[]) => {
    const { raw_token: raw } = (await app.inject({
      method: 'POST', url: '/api/client-tokens', headers: admin, payload: { name: 'x', scopes: ['tasks.run', ...scopes] }
    })).json<{ raw_token: string }>()
    return { authorization: `Bearer ${raw}` }
  }
  const start = async (name: string, headers: Record<string, string>, payload: object = {}) =>
    await app.inject({ method: 'POST', url: `/api/tasks/run/${name}`, headers, payload })
  const runner = await tokenOf([])
  const groups = (await get('/api/tasks')).json<Record<string, TaskInfo[]>>()
  const names = Object.values(groups).flat().filter(({ destructive }) => destructive).map(({ name }) => name)
  t.same(names.toSorted(), ['cleanup_assets', 'cleanup_missing_firmware', 'cleanup_missing_roms', 'cleanup_orphaned_resources', 'convert_library',
    'empty_trash', 'rename_by_dat'])
  for (const name of names) t.equal((await start(name, runner)).statusCode, 403, name)
  t.match((await start('empty_trash', runner, { everything: true })).json(), { detail: /deletes objects, so it also needs the scope roms\.write/ })
  t.match((await start('rename_by_dat', runner)).json(), { detail: /renames files, so it also needs the scope roms\.write/ })
  t.equal((await start('cleanup_missing_firmware', await tokenOf(['roms.write']))).statusCode, 403)
  for (const [name, scope] of [['empty_trash', 'roms.write'], ['cleanup_missing_firmware', 'firmware.write']] as const) {
    const reply = await start(name, await tokenOf([scope]))
    t.equal(reply.statusCode, 200, name)
    await finished(reply.json<{ task_id: string }>().task_id)
  }
  const user = await test.createUser('keeper')
  await sql(`insert into permission_grants (group_id, entity, action, own_only)
    select id, entity, 'write', false from permission_groups, unnest(array['tasks', 'roms']) entity
    where is_default on conflict do nothing`)
  t.match((await start('empty_trash', user)).json(), { detail: 'Insufficient permissions' })
  await sql("delete from permission_grants where entity in ('tasks', 'roms') and action = 'write'")
})

t.test('V9: a report does not name platforms that are hidden from its reader', async (t) => {
  const watcher = await test.createUser('watcher')
  await sql(`insert into permission_overrides (user_id, entity, action, own_only, granted)
    select id, 'tasks', 'write', false, true from users where username = 'watcher'`)
  await sql(`with added as (insert into platforms (slug, fs_slug, name, custom_name)
      values ('open', 'open', 'Open', null), ('veiled', 'veiled', 'Veil', 'Own name') returning id, slug)
    insert into hidden_entities (entity, entity_id, user_id)
    select 'platforms', added.id, users.id from added, users where slug = 'veiled' and username = 'watcher'`)
  const id = crypto.randomUUID()
  const problems = ['open', 'veiled'].map((platform) => ({ platform, path: `roms/${platform}/x`, reason: 'it is empty' }))
  const meta = { scan_stats: { scanned_roms: 3 }, platform: 'Veil', problems, deleted: ['bios/open/x', 'bios/veiled/x'] }
  await sql(`insert into tasks (id, title, type, status, meta, ended_at)
    values ('${id}', 'Scan', 'scan', 'finished', '${JSON.stringify(meta)}', now())`)
  const read = async (headers: Record<string, string>) =>
    (await app.inject({ url: `/api/tasks/${id}`, headers })).json<{ meta: object }>().meta
  t.same(await read(admin), meta)
  t.same(await read(watcher), {
    scan_stats: { scanned_roms: 3 }, platform: null, problems: problems.slice(0, 1), deleted: ['bios/open/x']
  })
  await sql(`update tasks set meta = '{"platform": "Own name"}' where id = '${id}'`)
  t.match(await read(watcher), { platform: null }, 'nor by the name that users gave one')
  await sql("delete from platforms where slug in ('open', 'veiled')")
})

t.test('an unknown task id is not found, whatever its form', async (t) => {
  for (const id of [crypto.randomUUID(), 'x', '------------------------------------', '1', "'; drop table tasks"]) {
    const answer = await get(`/api/tasks/${encodeURIComponent(id)}`)
    t.equal(answer.statusCode, 404, id)
    t.same(answer.json(), { detail: `Task with ID '${id}' not found` })
  }
})

t.test('of many concurrent requests for a single task one succeeds', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  pictures.refresh = () => promise
  const answers = await Promise.all(Array.from({ length: 20 }, () => run('update_pictures_metadata')))
  t.equal(answers.filter((answer) => answer.statusCode === 200).length, 1)
  t.match(answers.find((answer) => answer.statusCode !== 200), {
    statusCode: 409, body: /Scheduled Pictures metadata update is already queued or running/
  })
  resolve()
  const { task_id: id } = answers.find((answer) => answer.statusCode === 200)?.json<{ task_id: string }>() ?? { task_id: '' }
  t.match(await finished(id), { status: 'finished', task_key: 'update_pictures_metadata', meta: { update_stats: { processed: 1, total: 1 } } })
  t.equal((await runToEnd('update_pictures_metadata')).status, 'finished', 'and the next one later')
})

t.test('an index is built by hand with its schedule off, with and without force', async (t) => {
  let builds = 0
  pictures.refresh = async () => { builds++ }
  for (const args of [{}, { force: true }, { force: false }]) {
    t.match(await runToEnd('update_pictures_metadata', args), { status: 'finished' })
  }
  t.equal(builds, 3)
  t.equal((await run('update_pictures_metadata', { force: 'soon' })).statusCode, 422)
})

t.test('a task that builds an index reports its progress', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  pictures.refresh = ({ report }) => {
    report({ done: 3, total: 12, message: 'Games.xml' })
    return promise
  }
  const { task_id: id } = (await run('update_pictures_metadata')).json<{ task_id: string }>()
  const read = async () => (await get(`/api/tasks/${id}`)).json<{ meta: { update_stats: { processed: number } | null } }>()
  await until(async () => (await read()).meta.update_stats?.processed === 3, 'progress shows')
  t.match(await read(), { meta: { update_stats: { processed: 3, total: 12, message: 'Games.xml' } } })
  resolve()
  t.match(await finished(id), { status: 'finished', meta: { update_stats: { processed: 1, total: 1 } } })
})

t.test('a task that fails says why', async (t) => {
  pictures.refresh = async () => { throw new Error('the archive\0 is broken') }
  const failed = await runToEnd('update_pictures_metadata')
  t.equal(failed.status, 'failed')
  t.equal(await error(failed.id), 'the archive is broken')
  app.tasks.define({
    name: 'foreign', title: 'Foreign', description: 'Known to this process alone', type: 'generic', group: 'manual', enabled: true, manual_run: true,
    cron_string: '', destructive: false, isSingle: true, arguments: Type.Object({}), run: async () => {}
  })
  const answer = await run('foreign')
  t.match(await finished(answer.json<{ task_id: string }>().task_id), { status: 'failed' })
  t.match(await error(answer.json<{ task_id: string }>().task_id), /no task 'foreign' in this release/, 'a worker of another release')
})

t.test('the status list shows running, waiting and ended tasks, newest first', async (t) => {
  await put({ 'roms/snes/A.sfc': 'a' })
  const { task_id: id } = await scan({ apis: [] })
  const list = (await get('/api/tasks/status')).json<{ task_id: string, status: string, started_at: string }[]>()
  t.equal(list[0]?.task_id, id)
  t.match(list[0], { task_name: 'Quick Scan', task_key: null, task_type: 'scan', meta: { scan_stats: { new_roms: 1 } }, ended_at: /\+00:00$/ })
  const times = list.map((task) => Date.parse(task.started_at))
  t.same(times, times.toSorted((a, b) => b - a))
})

t.test('missing ROMs are deleted with their artwork, for one platform or all', async (t) => {
  await put({ 'roms/nes/Gone.nes': 'x', 'roms/nes/Back.nes': 'y', 'roms/nes/Here.nes': 'z', 'roms/gb/Gone.gb': 'x', 'roms/gb/Here.gb': 'z' })
  await scan({ apis: [] })
  for (const path of ['nes/Gone.nes', 'nes/Back.nes', 'gb/Gone.gb']) await rm(join(libraryDir, 'roms', path))
  await scan({ apis: [] })
  await put({ 'roms/nes/Back.nes': 'y' })
  const [platform] = await sql<{ id: number }>("select id from platforms where fs_slug = 'nes'")
  const [gone] = await test.roms('nes').then((roms) => roms.filter((rom) => rom.fs_name === 'Gone.nes'))
  const folder = `roms/${platform?.id}/${gone?.id}`
  await mkdir(join(resources, folder, 'cover'), { recursive: true })
  await writeFile(join(resources, folder, 'cover/big.png'), 'x')
  const one = await runToEnd('cleanup_missing_roms', { platform_id: platform?.id })
  t.match(one, { status: 'finished', meta: { cleanup_stats: { platform_id: platform?.id, roms_found: 2, roms_deleted: 1, errors: 0 } } })
  t.notOk(await exists(folder))
  t.same((await test.roms('nes')).map((rom) => rom.fs_name), ['Back.nes', 'Here.nes'])
  await put({ 'roms/gb/Emptied/deep/1.gb': 'x', 'roms/gb/Kept/1.gb': 'y' })
  await scan({ apis: [] })
  await rm(join(libraryDir, 'roms/gb/Emptied/deep/1.gb'))
  await sql("update roms set missing_from_fs = true where fs_name in ('Emptied', 'Kept')")
  const all = await runToEnd('cleanup_missing_roms')
  t.match(all.meta.cleanup_stats, { platform_id: null, roms_found: 3, roms_deleted: 2 })
  await rm(join(libraryDir, 'roms/gb/Kept'), { recursive: true })
  await runToEnd('cleanup_missing_roms')
  t.same((await test.roms('gb')).map((rom) => rom.fs_name), ['Here.gb'])
})

t.test('the cleanup of many missing ROMs tells its progress', async (t) => {
  const [platform] = await sql<{ id: number }>("select id from platforms where fs_slug = 'gb'")
  await sql(`insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext, missing_from_fs)
    select ${platform?.id}, n || '.gone', 'roms/gb', n::text, n::text, true from generate_series(1, 450) n`)
  const reports: object[] = []
  await defineCleanupMissing(test.app).run({
    id: '', payload: { platform_id: platform?.id }, user_id: null, begun_at: new Date(), signal: new AbortController().signal,
    report: async (meta) => { reports.push(structuredClone(meta)) }
  })
  t.match(reports, [0, 200, 400, 450].map((deleted) => ({ cleanup_stats: { roms_found: 450, roms_deleted: deleted } })))
})

t.test('missing ROMs stay if the library is unreadable', async (t) => {
  await sql("update roms set missing_from_fs = true where fs_name = 'Here.gb'")
  await rename(libraryDir, `${libraryDir}-away`)
  const task = await runToEnd('cleanup_missing_roms')
  t.equal(task.status, 'failed')
  t.match(await error(task.id), /library 'library' is not mounted: its folder cannot be read/)
  await rename(`${libraryDir}-away`, libraryDir)
  await mkdir(join(libraryDir, 'kept'), { recursive: true })
  t.equal((await test.roms('gb')).length, 1)
})

t.test('only artwork without a row is deleted', async (t) => {
  const [rom] = await test.roms('nes')
  const [platform] = await sql<{ id: number }>("select id from platforms where fs_slug = 'nes'")
  const kept = [`roms/${platform?.id}/${rom?.id}`, 'users/1', 'roms/notes', `roms/${platform?.id}/notes`]
  const orphans = [`roms/${platform?.id}/999999`, 'roms/888888/1', 'roms/888888/2']
  for (const folder of [...kept, ...orphans]) await mkdir(join(resources, folder), { recursive: true })
  const task = await runToEnd('cleanup_orphaned_resources')
  t.match(task, { status: 'finished', meta: { cleanup_stats: { platforms_in_fs: 2, roms_in_fs: 4, removed_fs_platforms: 1, removed_fs_roms: 3 } } })
  for (const folder of kept) t.ok(await exists(folder), folder)
  for (const folder of orphans) t.notOk(await exists(folder), folder)
})

t.test('a WebP copy is written beside each cover, once', async (t) => {
  const cover = await sharp({ create: { width: 40, height: 60, channels: 3, background: '#336699' } }).png().toBuffer()
  const [rom, collection] = ['roms/7/7/cover', 'collections/7/cover']
  for (const folder of [rom, collection]) await mkdir(join(resources, folder), { recursive: true })
  await writeFile(join(resources, rom, 'big.png'), cover)
  await writeFile(join(resources, rom, 'broken.jpg'), 'no picture')
  await writeFile(join(resources, collection, 'big.png'), cover)
  t.match(await runToEnd('convert_images_to_webp'), {
    status: 'finished', meta: { conversion_stats: { processed: 3, errors: 1, total: 3 } }
  })
  t.match(await sharp(join(resources, rom, 'big.webp')).metadata(), { format: 'webp', width: 40, height: 60 })
  t.ok(await exists(`${collection}/big.webp`))
  t.same((await readdir(join(resources, rom))).sort(), ['big.png', 'big.webp', 'broken.jpg'])
  const { mtimeMs: written } = await stat(join(resources, rom, 'big.webp'))
  await runToEnd('convert_images_to_webp')
  t.equal((await stat(join(resources, rom, 'big.webp'))).mtimeMs, written, 'a second run leaves it')
  const later = new Date(Date.now() + 60_000)
  await utimes(join(resources, rom, 'big.png'), later, later)
  await runToEnd('convert_images_to_webp')
  t.not((await stat(join(resources, rom, 'big.webp'))).mtimeMs, written, 'a cover that changed has a new one')
  await rm(join(resources, 'collections'), { recursive: true })
  await rm(join(resources, 'roms/7'), { recursive: true })
})

t.test('only firmware that is missing on disk leaves the list', async (t) => {
  await put({ 'bios/snes/gone.bin': 'gone', 'bios/snes/back.bin': 'back', 'bios/snes/here.bin': 'here' })
  await scan({ apis: [] })
  for (const name of ['gone', 'back']) await rm(join(libraryDir, `bios/snes/${name}.bin`))
  await scan({ apis: [] })
  await put({ 'bios/snes/back.bin': 'back' })
  t.match(await runToEnd('cleanup_missing_firmware'), {
    status: 'finished', meta: { cleanup_stats: { firmware_found: 2, firmware_deleted: 1 }, deleted: ['bios/snes/gone.bin'] }
  })
  t.same(await sql('select file_name from firmware order by file_name'), [{ file_name: 'back.bin' }, { file_name: 'here.bin' }])
})

t.test('with an empty database artwork is deleted only with force', async (t) => {
  await sql('delete from platforms')
  const task = await runToEnd('cleanup_orphaned_resources')
  t.equal(task.status, 'failed')
  t.match(await error(task.id), /has no platform.*force/)
  t.match(await runToEnd('cleanup_orphaned_resources', { force: true }), { status: 'finished', meta: { cleanup_stats: { removed_fs_platforms: 1 } } })
})
