import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { overTcp } from '../../support.ts'
import { until } from '../../until.ts'
import { resetScripts } from '../fixtures/script.ts'
import { type ScanTest, startWorker } from './support.ts'
import { ROMS, digest, blockParts, build, listHolders, readRoms, waitForHolders } from './parts-support.ts'

t.beforeEach(resetScripts)

/** A connection to the database that a test can interrupt. */
async function createProxy (t: Test, databaseUrl: string) {
  const [target, url] = [new URL(overTcp(databaseUrl)), new URL(overTcp(databaseUrl))]
  const sockets = new Set<Socket>()
  let isHeld = false
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const [from, to] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(from)
      from.on('error', () => { to.destroy() }).on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
      if (isHeld) from.unpipe(to).pause()
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  url.port = String(port)
  return {
    url: url.href,
    /** Passes nothing on until `resume`, and closes no connection. */
    hold () {
      isHeld = true
      for (const socket of sockets) socket.pause()
    },
    resume () {
      isHeld = false
      for (const socket of sockets) socket.resume()
    }
  }
}

/** Reads everything that a scan writes about ROMs, with the transactions that wrote it. */
const readWritten = ({ sql }: ScanTest) => sql(`select r.xmin::text as rom, f.xmin::text as file, m.xmin::text as match, r.id
  from roms r join rom_files f on f.rom_id = r.id left join rom_matches m on m.rom_id = r.id order by r.id`)

t.test('a stop ends the scan in all workers', async (t) => {
  const test = await build(t)
  await startWorker(t, test, ['digest'])
  await startWorker(t, test, ['digest'])
  digest.identify = () => new Promise(() => {})
  const release = await blockParts(t, test)
  const id = await test.start({ apis: ['digest'] })
  await waitForHolders(test, 2)
  await release()
  await until(() => digest.calls.length > 0, 'the first lookup')
  await test.app.tasks.stopOne(id)
  t.equal((await test.finished(id)).status, 'stopped')
  t.strictSame(await test.sql('select from scan_parts'), [])
  digest.identify = () => null
  t.match(await test.scan({ apis: ['digest'] }), { status: 'finished', meta: { scan_stats: { scanned_roms: ROMS } } })
})

t.test('other workers finish the parts of a worker that shuts down', async (t) => {
  const test = await build(t)
  const workers = [await startWorker(t, test, ['digest']), await startWorker(t, test, ['digest'])]
  for (const isLeader of [false, true]) {
    await test.sql('delete from platforms')
    const release = await blockParts(t, test)
    const id = await test.start({ apis: ['digest'] })
    await waitForHolders(test, 2)
    const [task] = await test.sql<{ worker_id: string }>('select worker_id from tasks where id = $1', [id])
    const index = workers.findIndex((worker) => (worker.workers.id === task?.worker_id) === isLeader)
    const closing = workers.splice(index, 1)[0]?.close()
    await release()
    await closing
    if (isLeader) await workers[0]?.tasks.recover()
    t.match(await test.finished(id), { status: 'finished', meta: { scan_stats: { scanned_platforms: 4, scanned_roms: ROMS, new_roms: ROMS } } })
    t.equal((await readRoms(test)).length, ROMS)
    workers.push(await startWorker(t, test, ['digest']))
  }
})

t.test('a worker that lost its connection for a while writes nothing afterwards', async (t) => {
  const test = await build(t)
  await startWorker(t, test, ['digest'])
  const proxy = await createProxy(t, test.databaseUrl)
  const release = await blockParts(t, test)
  const id = await test.start({ apis: ['digest'] })
  await waitForHolders(test, 1)
  const [leader] = await listHolders(test)
  const parted = await startWorker(t, { ...test, databaseUrl: proxy.url }, ['digest'])
  await waitForHolders(test, 2)
  proxy.hold()
  await release()
  const part = "holder <> $1 and state = 'leased'"
  const [lost] = await test.sql<{ token: string }>(`update scan_parts set expires_at = now() where ${part} returning token`, [leader])
  t.ok(lost)
  t.match(await test.finished(id), { status: 'finished', meta: { scan_stats: { scanned_platforms: 4, scanned_roms: ROMS, new_roms: ROMS } } })
  const before = await readWritten(test)
  t.equal(before.length, ROMS)
  proxy.resume()
  await parted.close()
  t.strictSame(await readWritten(test), before)
  t.strictSame(await test.sql('select from scan_parts'), [])
})

t.test('two scan workers share a library scan and end it with one report', async (t) => {
  const test = await build(t)
  await startWorker(t, test, ['digest'])
  await startWorker(t, test, ['digest'])
  const release = await blockParts(t, test)
  const id = await test.start({ apis: ['digest'] })
  await waitForHolders(test, 2)
  await release()
  const task = await test.finished(id)
  t.match(task, {
    status: 'finished',
    meta: {
      scan_stats: {
        total_platforms: 4, total_roms: ROMS, scanned_platforms: 4, new_platforms: 4, scanned_roms: ROMS,
        new_roms: ROMS, new_files: ROMS, identified_roms: ROMS, updated_roms: 0, failed_lookups: 0
      },
      problems: []
    }
  })
  const roms = await readRoms(test)
  t.equal(roms.length, ROMS)
  t.ok(roms.every((rom) => rom.is_identified && rom.sha1_hash !== ''))
  t.equal(new Set(digest.calls.map(({ rom }) => rom)).size, digest.calls.length, 'each ROM is looked up once')
  t.strictSame(await test.sql('select from scan_parts'), [], 'no part remains')
})
