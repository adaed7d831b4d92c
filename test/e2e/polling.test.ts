import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { io } from 'socket.io-client'
import t from 'tap'
import { createTestDatabase } from '../support.ts'
import { until } from '../until.ts'
import { type Listening, createUsedDataDir, listChildren, runSvc, settings, waitUntilListening } from './server.ts'

const POLLS = 20

t.test('long polling with three web workers', async (t) => {
  // A folder of this test would be too deep for the path of a local socket.
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-e2e-'))
  t.teardown(() => { rmSync(dataDir, { recursive: true, force: true }) })
  createUsedDataDir(dataDir)
  const server = runSvc(t, ['start'], settings(dataDir, {
    WEB_SERVER_CONCURRENCY: '3', SVC_DATABASE_URL: await createTestDatabase(t)
  }))
  const { url }: Listening = await waitUntilListening(server, dataDir)
  await until(async () =>
    (await listChildren(server.pid, 'web')).length === 3 &&
      readdirSync(join(dataDir, 'run')).filter((name) => name.endsWith('.sock')).length === 3, 'three web workers', server)
  const path = '/ws/socket.io'
  const endpoint = `${url}${path}/?EIO=4&transport=polling`
  /** Each request on a connection of its own, so that the workers take turns. */
  const poll = (query: string, init: RequestInit = {}) =>
    fetch(`${endpoint}${query}`, { ...init, headers: { connection: 'close', ...init.headers } })

  async function open (): Promise<string> {
    const [, json] = /^0(\{.*\})/.exec(await (await poll('')).text()) ?? []
    return (JSON.parse(json ?? '{}') as { sid: string }).sid
  }

  await t.test(`a session survives ${POLLS} requests, whichever worker gets them`, async (t) => {
    const sid = await open()
    t.match(sid, /^[123]-/)
    t.equal((await poll(`&sid=${sid}`, { method: 'POST', body: '40' })).status, 200)
    t.match(await (await poll(`&sid=${sid}`)).text(), /^40\{"sid"/)
    const statuses = []
    for (let count = 0; count < POLLS; count++) {
      statuses.push((await poll(`&sid=${sid}`, { method: 'POST', body: '42["unknown"]' })).status)
    }
    t.same(statuses, Array<number>(POLLS).fill(200))
  })

  await t.test('sessions are opened by every worker', async (t) => {
    const owners = new Set<string | undefined>()
    for (let count = 0; count < 9; count++) owners.add((await open()).split('-')[0])
    t.same([...owners].sort(), ['1', '2', '3'])
  })

  await t.test('a body over the limit is refused wherever it arrives', async (t) => {
    const sid = await open()
    for (let count = 0; count < 3; count++) {
      const answer = await poll(`&sid=${sid}`, { method: 'POST', body: `4${'x'.repeat(1_100_000)}` }).catch(() => null)
      t.ok(answer === null || answer.status === 413, `answer ${answer?.status}`)
    }
  })

  await t.test('a session of a worker that is gone is unknown, as the client expects', async (t) => {
    const answer = await poll('&sid=2-zzzz-0-gone')
    t.equal(answer.status, 400)
    t.same(await answer.json(), { code: 1, message: 'Session ID unknown' })
  })

  await t.test('a client that only polls stays connected', async (t) => {
    const socket = io(url, { path, transports: ['polling'], forceNew: true, reconnection: false })
    t.teardown(() => socket.disconnect())
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('connect_error', reject)
    })
    // A guest may not scan, and is told so: a round trip through whichever workers the requests meet.
    for (let count = 0; count < 10; count++) {
      const refused = new Promise((resolve) => socket.once('scan:done_ko', resolve))
      socket.emit('scan', {})
      t.ok(await refused)
    }
    t.ok(socket.connected)
  })

  await t.test('polling turns into a WebSocket although other workers get the request', async (t) => {
    const names = []
    for (let count = 0; count < 6; count++) {
      const socket = io(url, { path, transports: ['polling', 'websocket'], forceNew: true, reconnection: false })
      t.teardown(() => socket.disconnect())
      names.push(await new Promise<string>((resolve, reject) => {
        socket.once('connect_error', reject)
        socket.io.engine.once('upgrade', (transport: { name: string }) => { resolve(transport.name) })
        socket.io.engine.once('close', (reason: string) => { reject(new Error(reason)) })
      }))
    }
    t.same(names, Array<string>(6).fill('websocket'))
  })

  await t.test('the local sockets go with the server', async (t) => {
    server.child.kill('SIGTERM')
    t.match(await server.ended, { code: 0 })
    t.notOk(existsSync(join(dataDir, 'run', 'server.json')))
    t.same(readdirSync(join(dataDir, 'run')).filter((name) => name.endsWith('.sock')), [])
  })
})
