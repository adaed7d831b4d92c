import { randomUUID } from 'node:crypto'
import t from 'tap'
import { findLaterCheck } from '../../../plugins/assets/clean-up/safety-checks.ts'
import { buildTestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'

const HOUR_MS = 3_600_000
const fresh = shareTestApp(t, { packages: [] })

t.test('a task keeps the scan worker awake until everything that follows is done', async (t) => {
  const { app } = await fresh(t)
  t.equal(await app.rest.findWork(), null)
  const id = randomUUID()
  await app.pg.query("insert into tasks (id, title, type, status, payload) values ($1, 'Clean', 'cleanup', 'queued', '{}')", [id])
  const states = [["status = 'queued'", 'tasks'], ["status = 'started'", 'tasks'], ["status = 'finished', end_pending = true", 'tasks'],
    ['end_pending = false', null], ["status = 'scheduled'", null]] as const
  for (const [change, work] of states) {
    await app.pg.query(`update tasks set ${change} where id = $1`, [id])
    t.equal(await app.rest.findWork(), work, change)
  }
})

t.test('a delivery keeps the scan worker awake if it is due within a minute', async (t) => {
  const { app } = await fresh(t)
  await app.pg.query(`insert into notification_channels (user_id, type, name, sealed, confirmed)
    select id, 'webhook', 'Phone', '', true from users limit 1`)
  await app.pg.query(`insert into channel_deliveries (channel_id, notification, due_at)
    select id, '{}', now() + interval '5 minutes' from notification_channels`)
  t.equal(await app.rest.findWork(), null)
  await app.pg.query("update channel_deliveries set due_at = now() + interval '50 seconds'")
  t.equal(await app.rest.findWork(), 'deliveries')
  await app.pg.query('update notification_channels set enabled = false')
  t.equal(await app.rest.findWork(), null)
})

t.test('the clean-up of saves after the first hour runs once, also after a rest', (t) => {
  const after = (running: number, sinceLook: number | null) =>
    findLaterCheck({ now: 0, running, since_look: sinceLook })
  t.equal(after(0, null), HOUR_MS)
  t.equal(after(HOUR_MS - 5, HOUR_MS - 10), 5, 'it is due at the same time after a rest')
  t.equal(after(2 * HOUR_MS, 2 * HOUR_MS - 10), 0, 'the hour ended during the rest')
  t.equal(after(2 * HOUR_MS, HOUR_MS - 10), null, 'it ran before the rest')
  t.equal(after(2 * HOUR_MS, null), 0)
  t.end()
})

t.test('a scan worker that watches folders never rests, and one without work may', async (t) => {
  for (const [name, value] of [['ENABLE_RESCAN_ON_FILESYSTEM_CHANGE', 'the watch of the libraries'],
    ['ENABLE_SYNC_FOLDER_WATCHER', 'the watch of the folders of devices']] as const) {
    const { worker } = await buildTestApp(t, { worker: true, packages: [], env: { [name]: 'true' } })
    await until(async () => await worker?.rest.findWork() === value, 'the end of all other work at the start')
    t.equal(await worker?.rest.findWork(), value)
  }
  const { worker, app } = await buildTestApp(t, { worker: true, packages: [] })
  await until(async () => await worker?.rest.findWork() === null, 'the end of all work at the start')
  t.ok((await worker?.rest.findNext() ?? 0) > Date.now() - 60_000, 'it knows its next schedule')
  t.equal(app.rest.isWoken, false)
})
