import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { io } from 'socket.io-client'
import t from 'tap'
import { createListeners } from '../../plugins/scans/tell/listeners.ts'
import { buildTestApp } from '../support.ts'

const LISTENERS = 25

t.test('the more listen to a scan, the fewer events each of them gets', async (t) => {
  const { app } = await buildTestApp(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const alone = createListeners(app, app.log)
  t.teardown(() => { alone.close() })
  t.ok(alone.areThere(), 'somebody may be, until they were counted')
  await alone.counted
  t.notOk(alone.areThere(), 'nobody is, and nothing is prepared for them')
  t.equal(alone.limit(40), 40)
  t.equal(alone.atOnce(200), 200)

  for (let count = 0; count < LISTENERS; count++) {
    const socket = io(`http://127.0.0.1:${port}`, { path: '/ws/socket.io', transports: ['websocket'], forceNew: true })
    t.teardown(() => { socket.disconnect() })
    await once(socket as never, 'connect')
  }
  const many = createListeners(app, app.log)
  t.teardown(() => { many.close() })
  await many.counted
  t.ok(many.areThere())
  t.equal(many.limit(4), 4, 'a few make no difference')
  t.equal(many.limit(1_000), 500 / LISTENERS)
  t.equal(many.atOnce(200), 1_000 / LISTENERS, 'nor does any wait until all others had a heap of them')
})
