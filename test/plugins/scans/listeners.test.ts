import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { io } from 'socket.io-client'
import t from 'tap'
import { createListeners } from '../../../plugins/scans/progress/listeners.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'

const LISTENERS = 25

t.test('the more clients listen to a scan, the fewer events each gets', async (t) => {
  const { app } = await buildTestApp(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const alone = createListeners(app, app.log)
  t.teardown(() => { alone.close() })
  t.ok(alone.hasAny(), 'somebody may be, until they were counted')
  await alone.counted
  // On a busy machine the wait for the first count may end before the count.
  await until(() => !alone.hasAny(), 'nobody is, and nothing is prepared for them')
  t.equal(alone.perSecond('roms'), 40)
  t.equal(alone.reserve(200), 200)

  for (let count = 0; count < LISTENERS; count++) {
    const socket = io(`http://127.0.0.1:${port}`, { path: '/ws/socket.io', transports: ['websocket'], forceNew: true })
    t.teardown(() => { socket.disconnect() })
    await once(socket as never, 'connect')
  }
  const many = createListeners(app, app.log)
  t.teardown(() => { many.close() })
  await many.counted
  await until(() => many.perSecond('roms') === 1_000 / LISTENERS - 4, 'ROMs may have what the totals leave')
  t.ok(many.hasAny())
  t.equal(many.perSecond('stats'), 4, 'a few make no difference')
  t.equal(many.reserve(200), 1_000 / LISTENERS, 'nor does any wait until all others had a heap of them')
  await until(() => many.reserve(1) === 1, 'the next event, once those are written')
  many.countUrgent(10_000)
  t.equal(many.reserve(1), 0, 'and what could not wait makes the others wait')
})
