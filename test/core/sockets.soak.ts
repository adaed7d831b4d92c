import { pino } from 'pino'
import t from 'tap'
import { buildApp } from '../../core/app.ts'
import { userRoom } from '../../core/sockets/sockets.ts'
import { features } from '../../plugins/index.ts'
import { buildTestApp } from '../support.ts'
import { until } from '../until.ts'
import { collect, connect, idOf, joined, signIn } from './sockets-support.ts'

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
