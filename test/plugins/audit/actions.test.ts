import t from 'tap'
import { type TestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { createClient } from '../assets/support.ts'
import { addRom } from '../roms/support.ts'
import { createCaller } from '../tokens/support.ts'

const fresh = shareTestApp(t, { worker: true })

/** Waits for the end of a task, because the next test empties the tables and folders that the task uses. */
async function finish ({ app }: TestApp, id: string): Promise<void> {
  const running = "select from tasks where id = $1 and (status in ('queued', 'started') or end_pending)"
  await until(async () => (await app.pg.query(running, [id])).rowCount === 0, 'the end of the task')
}

t.test('deletions, tasks, scans, exports and channels are recorded with user and object', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: {} } } })
  const { app, admin } = test
  const caller = createCaller(app, admin)
  const { body: platform } = await caller.post('/api/platforms', { fs_slug: 'snes' })
  const { rows: [screenshot] } = await app.pg.query<{ id: number }>(`insert into assets (kind, user_id, platform_fs_slug, rom_fs_name,
    file_name, sha1, disk_path) select 'screenshot', id, 'snes', 'x', 'x', 'x', 'x' from users returning id`)
  const { body: channel } = await caller.post('/api/notification-channels', {
    type: 'webhook', name: 'phone', url: 'https://example.org/hook', secret: 'nobody reads this of it'
  })
  const removed = await app.inject({ method: 'DELETE', url: `/api/screenshots/${screenshot?.id}`, headers: admin })
  t.equal(removed.statusCode, 200, removed.body)
  const steps = [
    await caller.delete(`/api/notification-channels/${channel.id}`),
    await caller.delete(`/api/platforms/${platform.id}`)
  ]
  t.equal((await caller.delete(`/api/platforms/${platform.id}`)).status, 404)
  // The scan comes last, because it restores the platform, whose folder exists, with its former id.
  steps.push(await caller.post('/api/tasks/scan', {}))
  for (const { status, body } of steps) t.ok(status < 300, JSON.stringify(body))
  await finish(test, steps.at(-1)?.body.task_id)

  const { body: page } = await caller.get('/api/audit-log?limit=1000')
  const events = page.items as { event: string, username: string, details: Record<string, unknown> }[]
  const of = (name: string) => events.filter(({ event }) => event === name)
  t.match(of('scan.started'), [{ username: 'admin', details: { route: '/api/tasks/scan' } }])
  t.match(of('screenshot.deleted'), [{ details: { id: String(screenshot?.id) } }])
  t.match(of('channel.created'), [{ details: { type: 'webhook', name: 'phone' } }])
  t.match(of('channel.deleted'), [{ details: { channel_id: String(channel.id) } }])
  t.match(of('platform.deleted'), [{ username: 'admin', details: { id: String(platform.id) } }])
  t.equal(of('platform.deleted').length, 1, 'what failed is not')
  t.notMatch(JSON.stringify(events), /nobody reads this|example\.org/)
})

t.test('a task that a person starts is recorded', async (t) => {
  const test = await fresh(t)
  const caller = createCaller(test.app, test.admin)
  const name = 'cleanup_missing_roms'
  const { status, body } = await caller.post(`/api/tasks/run/${name}`)
  t.equal(status, 200, JSON.stringify(body))
  await finish(test, body.task_id)
  const { body: page } = await caller.get('/api/audit-log')
  t.match(page.items, [{ event: 'task.run', username: 'admin', details: { task_name: name } }])
})

interface AuditItem { event: string, username: string, details: Record<string, unknown> }

t.test('deletions of saves, states and play sessions are recorded', async (t) => {
  const test = await fresh(t)
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  const alice = createClient(test, await test.createUser('alice'))
  const save = await alice.save({ rom_id: rom }, 'Game.srm', 'a save')
  const state = await alice.state({ rom_id: rom }, 'Game.state', 'a state')
  const played = await alice.call('POST', '/api/play-sessions', {
    sessions: [{
      rom_id: rom, start_time: '2026-08-01T10:00:00Z', end_time: '2026-08-01T11:00:00Z', duration_ms: 3_600_000
    }]
  })
  t.ok(played.statusCode < 300, played.body)
  const [session] = await alice.get<{ id: number }[]>('/api/play-sessions')
  for (const reply of [
    await alice.call('POST', '/api/saves/delete', { saves: [save.id] }),
    await alice.call('POST', '/api/states/delete', { states: [state.id] }),
    await alice.call('DELETE', `/api/play-sessions/${session?.id}`)
  ]) t.ok(reply.statusCode < 300, reply.body)
  const { items } = await createClient(test, test.admin).get<{ items: AuditItem[] }>('/api/audit-log?limit=1000')
  const of = (name: string) => items.filter(({ event }) => event === name)
  t.match(of('save.deleted'), [{ username: 'alice', details: { saves: `[${save.id}]` } }])
  t.match(of('state.deleted'), [{ username: 'alice', details: { states: `[${state.id}]` } }])
  t.match(of('play_session.deleted'), [{ username: 'alice', details: { session_id: String(session?.id) } }])
})

t.test('an export is recorded with its named platforms, a refused one is not', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: {} } } })
  await addRom(test, { fs_name: 'Game.sfc' })
  const caller = createCaller(test.app, test.admin)
  const written = await caller.post('/api/export/gamelist-xml', { platforms: ['snes'] })
  t.equal(written.status, 200, JSON.stringify(written.body))
  t.equal((await caller.post('/api/export/gamelist-xml', { platforms: ['nowhere'] })).status, 404)
  const { body: { items } } = await caller.get('/api/audit-log')
  t.match((items as AuditItem[]).filter(({ event }) => event === 'export.written'),
    [{ username: 'admin', details: { route: '/api/export/gamelist-xml', platforms: '["snes"]' } }])
  t.equal((items as AuditItem[]).filter(({ event }) => event === 'export.written').length, 1)
})
