import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { createUsedDataDir, listChildren, runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import { makeFolder } from '../folder.ts'
import { until } from '../until.ts'

const MINUTE_MS = 60_000
/** The schedule comes within three minutes. */
const PATIENCE_MS = 4 * MINUTE_MS

t.test('a schedule that comes due while the scan worker rests runs once', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  createUsedDataDir(dataDir)
  // Leaves time for a start and a rest before, even if a task of the server is due now.
  const due = new Date(Math.ceil((Date.now() + 100_000) / MINUTE_MS) * MINUTE_MS)
  const server = runSvc(t, ['start'], settings(dataDir, {
    WEB_SERVER_CONCURRENCY: '1',
    SVC_WORKER_REST_MINUTES: '0.02',
    ENABLE_SCHEDULED_RESCAN: 'true',
    SCHEDULED_RESCAN_CRON: `${due.getUTCMinutes()} * * * *`,
    ENABLE_SCHEDULED_CLEANUP_SYNC_SESSIONS: 'false'
  }))
  const { state } = await waitUntilListening(server, dataDir)
  const untilResting = () => until(async () => (await listChildren(server.pid, 'worker')).length === 0,
    'a resting scan worker', { ...server, ms: PATIENCE_MS })
  const client = new pg.Client({ connectionString: state.database_url })
  await client.connect()
  t.teardown(() => client.end())
  const selectScans = async () => (await client.query<{ status: string, started_at: Date }>(
    "select status, started_at from tasks where type = 'scan' and task_key is null")).rows

  await until(() => server.output().includes('ended until there is work'), 'the log of the rest', { ...server, ms: PATIENCE_MS })
  await untilResting()
  t.ok(Date.now() < due.getTime(), 'the worker rests before the time')
  const [scan] = await until(async () => {
    const scans = await selectScans()
    return scans.some(({ status }) => status === 'finished') && scans
  }, 'the scheduled scan', { ...server, ms: PATIENCE_MS })
  const lateMs = (scan?.started_at.getTime() ?? 0) - due.getTime()
  t.ok(lateMs >= 0 && lateMs < MINUTE_MS, `it ran ${lateMs} ms after its time`)
  await untilResting()
  t.equal((await selectScans()).length, 1)
  t.ok(Date.now() > due.getTime() + MINUTE_MS, 'the worker rests only after the scheduler is done with the minute')
})
