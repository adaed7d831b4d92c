import { pino } from 'pino'
import t from 'tap'
import { buildApp } from '../../core/app.ts'
import { userRoom } from '../../core/sockets/sockets.ts'
import { features } from '../../plugins/index.ts'
import { buildTestApp, type TestApp } from '../support.ts'
import { until } from '../until.ts'
import { collect, connect, idOf, joined, signIn, listen } from './sockets-support.ts'

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'test:said': { text: string } }
}

t.test('events of one process reach the sockets of all others', async (t) => {
  const first = await buildTestApp(t, { worker: true })
  const { config, databaseUrl, app, worker } = first
  const second = await buildApp({
    config, role: 'web', databaseUrl, logger: pino({ level: 'silent' }), features, workerNumber: 2
  })
  t.teardown(() => second.close())
  await second.ready()
  t.equal(worker?.printRoutes(), '(empty tree)', 'a scan worker has no routes')
  const everyone = [app, second, worker].filter((one) => one !== null)
  for (const one of everyone) await until(async () => await one.sockets.main.of('/').adapter.serverCount() === 3, 'all find each other')

  const admin = await idOf(first, 'admin')
  const cookie = await signIn(app, 'admin')
  const clients = [await connect(t, app, { cookie }), await connect(t, second, { cookie })]
  for (const one of [app, second]) await joined(one, userRoom(admin))

  for (const one of everyone) t.equal(await one.sockets.countConnections(), 2, 'each process can tell how many listen to all')

  const heard = Promise.all(clients.map(collect))
  app.sockets.publish(userRoom(admin), 'test:said', { text: 'from the first' })
  second.sockets.publish(userRoom(admin + 1), 'test:said', { text: 'to someone else' })
  await until(async () => (await app.sockets.main.in(userRoom(admin)).fetchSockets()).length === 2, 'both sockets')
  worker?.sockets.publish(userRoom(admin), 'test:said', { text: 'end' })
  t.same(await heard, [['from the first'], ['from the first']])

  // Sizes around the threshold at which events go through a table.
  const sizes = Array.from({ length: 500 }, (_, count) => 7_600 + count)
  const arrived = new Set<number>()
  clients[1]?.on('test:said', ({ text }: { text: string }) => { arrived.add(text.length) })
  for (const size of sizes) app.sockets.publish(null, 'test:said', { text: 'x'.repeat(size) })
  await until(() => arrived.size === sizes.length, 'all of them')
})

t.test('a refused origin is logged once and shown in the health of every process', async (t) => {
  const log: Record<string, unknown>[] = []
  const options = { env: { SVC_BASE_URL: 'https://home.example' }, log: (line: Record<string, unknown>) => { log.push(line) } }
  const first = await buildTestApp(t, options)
  const second = await buildTestApp(t, { ...options, databaseUrl: first.databaseUrl, withoutAdmin: true })
  await listen(second.app)
  const problemsOf = async ({ app, admin }: Pick<TestApp, 'app' | 'admin'>) =>
    (await app.inject({ url: '/api/health', headers: admin })).json<{ problems?: { kind: string, subject: string }[] }>().problems ?? []
  for (let count = 0; count < 2; count++) {
    await t.rejects(connect(t, first.app, { origin: 'https://old-name.example', transport: 'polling' }), Error)
  }
  const [line, ...more] = log.filter(({ origin }) => origin === 'https://old-name.example')
  t.match(line, { level: 40, base_url: 'https://home.example', msg: /SVC_BASE_URL.*SVC_CORS_ALLOWED_ORIGINS/ })
  t.same(more, [])
  t.match(await problemsOf(first), [{ kind: 'origin_refused', subject: 'https://old-name.example', remedy: /SVC_BASE_URL/ }])
  await until(async () => (await problemsOf({ app: second.app, admin: first.admin })).length === 1, 'the other process')
  t.same((await first.app.inject({ url: '/api/health' })).json(), { status: 'ok' }, 'nobody else is told')
})

t.test('a proxy without upgrades is detected, and cleared once it has them', async (t) => {
  const { app, admin } = await buildTestApp(t)
  const url = await listen(app)
  const problems = async () => (await app.inject({ url: '/api/health', headers: admin })).json<{ problems: object[] }>().problems
  await fetch(`${url}/ws/socket.io/?EIO=4&transport=websocket`)
  t.match(await problems(), [{ kind: 'upgrade_missing', subject: '127.0.0.1', message: /use only polling/, lines: { 0: /nginx/, 1: /Upgrade/ } }])
  await connect(t, app, { transport: 'websocket' })
  t.same(await problems(), [])
})

t.test('the endpoint is below the path of the base URL', async (t) => {
  const { app } = await buildTestApp(t, { env: { SVC_BASE_URL: 'https://home.example/games' } })
  for (const transport of ['websocket', 'polling'] as const) {
    t.equal((await connect(t, app, { path: '/games/ws/socket.io', transport })).connected, true, transport)
    t.equal((await connect(t, app, { path: '/ws/socket.io', transport })).connected, true, `${transport}, prefix cut off`)
  }
})
