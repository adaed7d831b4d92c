import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { trackUnacceptedConnections } from '../../../core/supervisor/connection-handover.ts'
import { checkPort } from '../../../core/supervisor/port.ts'
import { loadConfig } from '../../load-config.ts'

/** Greets each client. When told to close, it waits for a file and reads its messages only then. */
const WORKER = `import { existsSync } from 'node:fs'
  import { createServer } from 'node:net'
  const server = createServer((socket) => socket.end('hello'))
  server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send('listens'))
  process.on('message', (file) => {
    process.send('told')
    while (!existsSync(file));
    server.close()
  })`

t.test('a connection sent to a closing web worker', {
  skip: process.platform === 'win32' && 'Windows has its workers take connections themselves'
}, async (t) => {
  const folder = t.testdir({ 'worker.mjs': WORKER })
  const { config: { server } } = loadConfig({ SVC_DATA_DIR: folder, SVC_HOST: '127.0.0.1', SVC_PORT: '0' })

  /** Starts a worker, and reports when it got its first connection. */
  async function startWorker (t: Pick<Test, 'teardown'>, port: number) {
    cluster.setupPrimary({ exec: join(folder, 'worker.mjs'), args: [String(port)], execArgv: [] })
    const worker = cluster.fork()
    const child: ChildProcess = worker.process
    t.teardown(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'close')
    })
    const handed = Promise.withResolvers<void>()
    const send = child.send.bind(child) as (...args: unknown[]) => boolean
    Reflect.set(child, 'send', (...args: [{ act?: string }, ...unknown[]]) => {
      if (args[0].act === 'newconn') handed.resolve()
      return send(...args)
    })
    trackUnacceptedConnections(child)
    await once(child, 'message')
    return { child, handed: handed.promise }
  }

  /** Connects a client while the worker closes, and returns what the client receives. */
  async function hear (worker: Awaited<ReturnType<typeof startWorker>>, port: number, file: string): Promise<string> {
    const { child, handed } = worker
    const told = once(child, 'message')
    child.send(file)
    await told
    const client = connect(port, '127.0.0.1')
    let heard = ''
    client.setEncoding('utf8').on('data', (text: string) => { heard += text }).on('error', () => { /* cut off */ })
    const closed = once(client, 'close')
    await handed
    writeFileSync(file, '')
    await closed
    return heard
  }

  await t.test('is cut off if there is no other worker', async (t) => {
    const port = await checkPort(server)
    t.equal(await hear(await startWorker(t, port), port, join(folder, 'alone')), '')
  })

  await t.test('is cut off if the other worker died with an open connection', async (t) => {
    const port = await checkPort(server)
    const dying = await startWorker(t, port)
    const worker = await startWorker(t, port)
    const told = once(dying.child, 'message')
    dying.child.send(join(folder, 'never'))
    await told
    // The dying worker is the first free one.
    connect(port, '127.0.0.1').on('error', () => { /* cut off */ })
    await dying.handed
    dying.child.kill('SIGKILL')
    await once(dying.child, 'close')
    t.equal(await hear(worker, port, join(folder, 'left')), '')
  })

  await t.test('is accepted by another worker', async (t) => {
    const port = await checkPort(server)
    const worker = await startWorker(t, port)
    await startWorker(t, port)
    t.equal(await hear(worker, port, join(folder, 'beside')), 'hello')
  })
})
