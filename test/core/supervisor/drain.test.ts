import { once } from 'node:events'
import t from 'tap'
import { createDrain } from '../../../core/supervisor/drain.ts'
import { closeOf, startServer, upload } from './drain-support.ts'

t.test('an upload that exceeds its time is cut off', async (t) => {
  const { server, port } = await startServer(t)
  const drain = createDrain(server, 1)
  const heard = once(server, 'request')
  const { ended } = upload(port)
  await heard
  await drain(closeOf(server), 1)
  t.equal(await ended, null)
})
