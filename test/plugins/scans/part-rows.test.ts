import { randomUUID } from 'node:crypto'
import t from 'tap'
import { SILENT_SECONDS } from '../../../core/jobs/heartbeat.ts'
import { leasePart, storeParts } from '../../../plugins/scans/parts/part-rows.ts'
import { shareTestApp } from '../../support.ts'

const fresh = shareTestApp(t)

t.test('a lease ends after the time in which a silent process counts as hung', async (t) => {
  const { app } = await fresh(t)
  const task = randomUUID()
  await app.pg.query("insert into tasks (id, title, type, status) values ($1, 'Scan', 'scan', 'started')", [task])
  await storeParts(app.db, task, [{ library_id: 1, folder: 'gb', entries: 1, counts_platform: true }])
  const holder = { task, worker: 'worker', token: randomUUID() }
  t.ok(await leasePart(app.db, holder, { libraryIds: [1], alive: ['worker'], isLargestFirst: false }))
  const { rows: [lease] } = await app.pg.query<{ seconds: number }>(
    'select extract(epoch from expires_at - now())::float8 as seconds from scan_parts where task_id = $1', [task])
  t.ok(lease !== undefined && lease.seconds > 0 && lease.seconds <= SILENT_SECONDS, `${lease?.seconds} s are left`)
})
