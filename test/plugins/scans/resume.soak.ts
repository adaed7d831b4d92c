import t from 'tap'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { until } from '../../until.ts'
import { buildScanTest, startWorker } from './support.ts'

/** A provider without a time limit of its own. */
const digest = scriptOf('digest')

t.beforeEach(resetScripts)

const manyRoms = (folder: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_none, index) => [`roms/${folder}/Game ${index}.bin`, `content ${index}`]))

t.test('the next worker finishes an interrupted scan without doubling or skipping ROMs', async (t) => {
  const test = await buildScanTest(t, { providers: ['digest'], worker: false })
  await test.put({ ...manyRoms('snes', 40), 'roms/zx/Last.bin': 'last' })
  let calls = 0
  let worker = await startWorker(t, test, ['digest'])
  for (const type of ['new_platforms', 'quick']) {
    calls = 0
    await test.sql('delete from platforms')
    digest.identify = () => ++calls > 15 ? new Promise(() => {}) : { id: calls, name: `Found ${calls}` }
    const id = await test.start({ type, apis: ['digest'] })
    await until(() => calls > 15, 'the scan is in the middle')
    await worker.close()
    t.match(await test.sql('select status, attempts, worker_id from tasks where id = $1', [id]),
      [{ status: 'queued', attempts: 0, worker_id: null }], 'a shutdown costs no attempt')
    digest.identify = () => ({ id: ++calls, name: `Found ${calls}` })
    worker = await startWorker(t, test, ['digest'])
    const status = await test.finished(id)
    t.match(status, { status: 'finished', meta: { scan_stats: { new_roms: 41, new_files: 41, new_platforms: 2, scanned_roms: 41 } } }, type)
    const roms = [...await test.roms('snes'), ...await test.roms('zx')]
    t.equal(roms.length, 41, type)
    t.equal(roms.filter((rom) => rom.is_identified).length, 41, `${type}: ROMs stored by the first worker were looked up`)
    t.ok(calls < 41 + 20, 'those it had looked up were not asked about again')
  }
})

t.test('a scan whose worker dies', async (t) => {
  const test = await buildScanTest(t, { providers: ['digest'] })
  const { worker } = test
  if (worker === null) throw new Error('the test has no worker')
  const told: unknown[][] = []
  const { publish } = worker.sockets
  worker.sockets.publish = (room, event, payload) => {
    if (event.startsWith('scan:')) told.push([room, event, payload])
    publish(room, event, payload)
  }

  t.test('is resumed by another worker', async (t) => {
    await test.put(manyRoms('snes', 3))
    const id = crypto.randomUUID()
    const payload = { type: 'quick', platforms: [], platform_fs_slugs: [], roms_ids: [], launchbox_remote_enabled: true, apis: [] }
    await test.sql(`insert into tasks (id, title, type, status, payload, worker_id, attempts, started_at, lock)
      values ($1, 'Quick Scan', 'scan', 'started', $2, 'dead', 1, now(), 'scan:library')`, [id, payload])
    await worker.tasks.recover()
    t.match(await test.finished(id), { status: 'finished', meta: { scan_stats: { new_roms: 3 } } })
    await until(() => told.some(([, event]) => event === 'scan:done'), 'its end is told')
  })

  t.test('fails after three workers died at it, and all clients get the failure', async (t) => {
    await test.put(manyRoms('snes', 1))
    told.length = 0
    const id = crypto.randomUUID()
    await test.sql(`insert into tasks (id, title, type, status, worker_id, attempts, started_at, lock)
      values ($1, 'Quick Scan', 'scan', 'started', 'dead', 3, now(), 'scan:library')`, [id])
    await Promise.all([worker.tasks.recover(), worker.tasks.recover()])
    t.equal((await test.finished(id)).status, 'failed')
    t.match(await test.error(id), /abandoned, because 3 workers crashed/)
    await until(() => told.length > 0, 'its end is told')
    t.match(told, [[null, 'scan:done_ko', /abandoned, because 3 workers crashed/]])
    t.equal(told.length, 1, 'once')
    t.equal((await test.scan()).status, 'finished', 'the next scan may start')
  })

  t.test('after it stored the end: later steps happen once', async (t) => {
    told.length = 0
    const id = crypto.randomUUID()
    await test.sql(`insert into tasks (id, title, type, status, worker_id, error, started_at, ended_at, end_pending)
      values ($1, 'Quick Scan', 'scan', 'failed', 'dead', 'the disk is full', now(), now(), true)`, [id])
    await Promise.all([worker.tasks.recover(), worker.tasks.recover()])
    await worker.tasks.recover()
    const isPending = () => test.sql('select 1 from tasks where id = $1 and end_pending', [id])
    await until(async () => (await isPending()).length === 0, 'the end is done')
    const failures = told.filter(([, event]) => event === 'scan:done_ko')
    t.match(failures, [[null, 'scan:done_ko', /the disk is full/]])
    t.equal(failures.length, 1)
    t.match(await test.sql('select status from tasks where id = $1', [id]), [{ status: 'failed' }])
  })

  t.test('is not touched by a worker that was only presumed dead', async (t) => {
    await test.put(manyRoms('nes', 2))
    digest.identify = () => new Promise(() => {})
    const id = await test.start({ apis: ['digest'] })
    await until(() => digest.calls.length > 0, 'the scan runs')
    await test.sql("update tasks set worker_id = 'another' where id = $1", [id])
    digest.identify = () => null
    const other = test.start({ roms_ids: [(await test.roms('nes'))[0]?.id ?? 0] })
    t.equal((await test.finished(await other)).status, 'finished', 'it is free for another')
    t.match(await test.sql('select status, worker_id from tasks where id = $1', [id]), [{ status: 'started', worker_id: 'another' }])
  })
})

t.test('a scan over its time limit is ended and names the setting', async (t) => {
  const test = await buildScanTest(t, { providers: ['digest'], env: { SCAN_TIMEOUT: '1' } })
  await test.put(manyRoms('snes', 100))
  const late = Promise.withResolvers<null>()
  t.teardown(() => { late.resolve(null) })
  digest.identify = () => late.promise
  const id = await test.start({ apis: ['digest'] })
  t.match(await test.finished(id), { status: 'failed' })
  t.equal(await test.error(id), 'The task took longer than 1 s and was ended; raise SCAN_TIMEOUT')
})
