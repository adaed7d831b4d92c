import { rename } from 'node:fs/promises'
import { CredentialsRefusedError, ServiceDownError } from '@svc/plugin-sdk'
import t from 'tap'
import { draftOf } from '../../../plugins/notifications/kinds.ts'
import type { NotificationView } from '../../../plugins/notifications/schemas.ts'
import type { ScanPayload } from '../../../plugins/scans/schemas.ts'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { listen } from './support.ts'
import { until } from '../../until.ts'
import { buildScanTest } from '../scans/support.ts'

const test = await buildScanTest(t, {
  providers: ['pictures'],
  config: { filesystem: { skip_hash_calculation: true }, plugins: { pictures: { refresh_cron: '15 2 * * 1' } } }
})
const { app, admin, put, scan, sql, libraryDir } = test
await app.listen({ port: 0, host: '127.0.0.1' })
const second = await test.createUser('second', 'admin')
const reader = await test.createUser('reader')
const pictures = scriptOf('pictures')
const idOf = async (name: string) => (await sql<{ id: number }>('select id from users where username = $1', [name]))[0]?.id ?? 0

type Told = [username: string, kind: string]
const INBOXES = 'select u.username, n.kind from notifications n join users u on u.id = n.user_id order by n.id'
const told = async () =>
  (await sql<{ username: string, kind: string }>(INBOXES)).map(({ username, kind }): Told => [username, kind])
const inbox = async (headers: { authorization: string }) =>
  (await app.inject({ url: '/api/notifications', headers })).json<NotificationView[]>()

/** Waits for this many notifications and returns all since the test began. */
async function toldOf (count: number): Promise<Told[]> {
  await until(async () => (await told()).length >= count, `${count} notifications`)
  return await told()
}

/** Requests a scan without a user, as a schedule and the watcher do. */
const scanUnasked = async (userId: number | null = null): Promise<string> => {
  const payload: ScanPayload = {
    type: 'quick', platforms: [], platform_fs_slugs: [], roms_ids: [], apis: [], launchbox_remote_enabled: true
  }
  return (await app.scans.request(payload, userId)).id
}

const runByHand = async (name: string) =>
  (await app.inject({ method: 'POST', url: `/api/tasks/run/${name}`, headers: admin })).json<{ task_id: string }>().task_id

/** Runs a scheduled task, as the queue does. @returns once the run ended */
async function runScheduled (name: string): Promise<void> {
  const countEnded = async () =>
    (await sql('select 1 from tasks where task_key = $1 and user_id is null and ended_at is not null', [name])).length
  const before = await countEnded()
  await app.jobs.send('schedules', { name })
  await until(async () => await countEnded() > before, `${name} has run`)
}

async function withoutLibrary<T> (work: () => Promise<T>): Promise<T> {
  await rename(libraryDir, `${libraryDir}-away`)
  const result = await work()
  await rename(`${libraryDir}-away`, libraryDir)
  return result
}

t.beforeEach(async () => {
  resetScripts()
  await sql('delete from notifications')
})

t.test('the user who started a scan gets one notification, also on the open page', async (t) => {
  const heard = await listen(t, app, { id: await idOf('admin'), username: 'admin' })
  await put({ 'roms/snes/A.sfc': 'a', 'roms/snes/B.sfc': 'b' })
  const { meta } = await scan({ apis: [] })
  t.same(await toldOf(1), [['admin', 'scan_completed']])
  const [notification] = await inbox(admin)
  t.match(notification, { level: 'success', title: null, body: null, link: null, data: { scanned_roms: 2, new_roms: 2, new_platforms: 1 }, actor: null })
  t.same(notification?.data, meta.scan_stats)
  await until(() => heard.length === 1, 'the page is told by the worker')
  t.same(heard, [['notifications:new', notification]])
  await scan({ apis: [] })
  t.same(await toldOf(2), [['admin', 'scan_completed'], ['admin', 'scan_completed']], 'a person is told although nothing is new')
})

t.test('a scan of chosen games notifies nobody unless it fails', async (t) => {
  const [{ id } = { id: 0 }] = await sql<{ id: number }>("select id from roms where fs_name = 'A.sfc'")
  t.equal((await scan({ roms_ids: [id], apis: [] })).status, 'finished')
  await put({ 'roms/snes/Later.sfc': 'later' })
  await scan({ apis: [] })
  t.same(await toldOf(1), [['admin', 'scan_completed']], 'but of the next one')
})

t.test('administrators are notified of an automatic scan that found games', async (t) => {
  await test.finished(await scanUnasked())
  await put({ 'roms/snes/C.sfc': 'c' })
  await test.finished(await scanUnasked())
  t.same(await toldOf(2), [['admin', 'scan_completed'], ['second', 'scan_completed']], 'and of the first, which did not, never')
  t.match(await inbox(second), [{ data: { new_roms: 1 } }])
})

t.test('the result of a scan names the providers whose lookups failed', async (t) => {
  await put({ 'roms/snes/Down.sfc': 'down', 'roms/snes/Out.sfc': 'out' })
  pictures.identify = () => { throw new ServiceDownError('the service is away') }
  await scan({ apis: ['pictures'] })
  t.same((await toldOf(1))[0], ['admin', 'scan_completed'])
  const [notification] = await inbox(admin)
  const sentence = 'provider pictures failed 2 times, the first time with: the service is away'
  t.match(notification, { level: 'success', data: { new_roms: 2, failed_lookups: 2, provider_failures: [sentence] } })
  t.equal(draftOf({ kind: 'scan_completed', data: notification?.data as never }).text.body, `2 new games, 2 failed lookups: ${sentence}`)
})

t.test('a failed scan notifies the user who started it, or administrators', async (t) => {
  await withoutLibrary(async () => {
    const { task_id: id } = await scan({ apis: [] })
    t.same(await toldOf(1), [['admin', 'scan_failed']])
    t.match(await inbox(admin), [{ level: 'error', data: { error: await test.error(id) } }])
    await test.finished(await scanUnasked())
    t.same((await toldOf(3)).slice(1), [['admin', 'scan_failed'], ['second', 'scan_failed']])
  })
})

t.test("only administrators see the machine's folders in errors of scans and tasks", async (t) => {
  const id = await idOf('reader')
  await sql("insert into permission_overrides (user_id, entity, action, granted) values ($1, 'tasks', 'write', true)", [id])
  t.teardown(() => sql('delete from permission_overrides'))
  const failed = await withoutLibrary(async () => {
    const task = await scanUnasked(id)
    await test.finished(task)
    return task
  })
  t.match(await test.error(failed), libraryDir)
  t.same(await toldOf(1), [['reader', 'scan_failed']])
  const reason = `EACCES: permission denied, open '${libraryDir}/roms/snes/A.sfc'`
  await sql('update tasks set meta = $2 where id = $1', [failed, { problems: [{ path: `${libraryDir}/roms`, reason }] }])
  for (const url of ['/api/notifications', `/api/tasks/${failed}`, '/api/tasks/status']) {
    const seen = await app.inject({ url, headers: reader })
    t.equal(seen.statusCode, 200, seen.body)
    t.match(seen.body, '<library>', url)
    t.notMatch(seen.body, libraryDir, url)
  }
  for (const url of [`/api/tasks/${failed}`, '/api/tasks/status']) {
    t.match((await app.inject({ url, headers: admin })).body, JSON.stringify(reason), 'administrators see it whole')
  }
})

t.test('a scan that is given up after its workers died notifies once', async (t) => {
  await sql(`insert into tasks (id, title, type, status, attempts, worker_id, user_id, started_at)
    values ($1, 'Quick Scan', 'scan', 'started', 3, 'a worker that is gone', $2, now())`, [crypto.randomUUID(), await idOf('second')])
  await Promise.all(Array.from({ length: 4 }, () => app.tasks.recover()))
  // The scan worker may have been the first to recover the scan.
  t.same(await toldOf(1), [['second', 'scan_failed']])
  t.match(await inbox(second), [{ data: { error: /abandoned, because 3 workers crashed/ } }])
})

t.test('a stopped scan sends no notification', async (t) => {
  await put({ 'roms/snes/D.sfc': 'd' })
  const asked = Promise.withResolvers<void>()
  pictures.identify = () => {
    asked.resolve()
    return new Promise(() => {})
  }
  const id = await test.start({ apis: ['pictures'] })
  await asked.promise
  await app.scans.stop()
  t.equal((await test.finished(id)).status, 'stopped')
  await scan({ apis: [] })
  t.same(await toldOf(1), [['admin', 'scan_completed']], 'but of the next one')
})

t.test('a task notifies its user; an automatic one notifies only of failures', async (t) => {
  await test.finished(await runByHand('update_pictures_metadata'))
  t.same(await toldOf(1), [['admin', 'task_completed']])
  t.match(await inbox(admin), [{ level: 'success', data: { title: 'Scheduled Pictures metadata update' } }])
  await runScheduled('update_pictures_metadata')
  pictures.refresh = async () => { throw new Error('the archive is broken') }
  await test.finished(await runByHand('update_pictures_metadata'))
  t.same((await toldOf(2)).slice(1), [['admin', 'task_failed']])
  t.match(await inbox(admin), [{ data: { title: 'Scheduled Pictures metadata update', error: 'the archive is broken' } }, {}])
  await runScheduled('update_pictures_metadata')
  t.same((await toldOf(4)).slice(2), [['admin', 'task_failed'], ['second', 'task_failed']])
})

t.test('a user is notified of the new role and of the administrator who set it', async (t) => {
  const [id, adminId] = [await idOf('reader'), await idOf('admin')]
  const setRole = (role: string) => app.inject({ method: 'PUT', url: `/api/users/${id}`, headers: admin, payload: { role } })
  await setRole('admin')
  await setRole('admin')
  t.same(await told(), [['reader', 'role_changed']], 'once, and not when it has the role already')
  await setRole('user')
  await app.users.announceRole({ user: { id, username: 'reader' }, from: 'user', to: 'admin', actor: null }, '', { by: 'oidc' })
  const { rows } = await app.pg.query('select data, actor_id from notifications order by id')
  t.same(rows, [
    { data: { role: 'admin' }, actor_id: adminId }, { data: { role: 'user' }, actor_id: adminId }, { data: { role: 'admin' }, actor_id: null }
  ])
})

t.test('administrators are notified once that a provider refuses its credentials', async (t) => {
  await put({ 'roms/snes/Key.sfc': 'key', 'roms/snes/Lock.sfc': 'lock' })
  pictures.identify = () => { throw new CredentialsRefusedError('the token is wrong') }
  const tellRefusals = async () => (await told()).filter(([, kind]) => kind === 'provider_refused')
  await scan({ apis: ['pictures'] })
  await until(async () => (await tellRefusals()).length === 2, 'a notification of both administrators')
  await scan({ apis: ['pictures'], type: 'unmatched' })
  t.same((await tellRefusals()).sort(), [['admin', 'provider_refused'], ['second', 'provider_refused']])
  const notification = (await inbox(admin)).find(({ kind }) => kind === 'provider_refused')
  t.match(notification, { level: 'error', data: { provider: 'pictures', name: 'Pictures', reason: /the token is wrong.*restart the server/ } })
})
