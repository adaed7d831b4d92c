import t from 'tap'
import { buildApp } from '../../../core/app.ts'
import { features } from '../../../plugins/index.ts'
import { pino } from 'pino'
import { until } from '../../until.ts'
import { buildTestApp } from '../../support.ts'
import { createChannelTools, packages, startReceiver } from './support.ts'
import { told } from './delivery-support.ts'

const testApp = await buildTestApp(t, { worker: true, packages: packages() })
const { app, worker, config, databaseUrl } = testApp
const tools = createChannelTools(testApp)
const { create, send } = tools
worker?.channels.onDisabled(async (channel) => { told.push(channel) })
const removeAll = () => app.pg.query('delete from notification_channels')

t.test('one of two workers delivers, and the other continues after its end', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t)
  for (let channel = 0; channel < 8; channel++) {
    await create({ type: 'unpaced', url: `${receiver.url}/verysecretpath${channel}` })
  }
  const lines: string[] = []
  const logger = pino({ level: 'debug' }, { write (line) { lines.push(line) } })
  const second = await buildApp({ config, role: 'worker', databaseUrl, logger, features, packages: packages() })
  t.teardown(() => second.close())
  await second.ready()
  const CREATED = new Date().toISOString()
  await send('admin', Array.from({ length: 50 }, () => ({ created_at: CREATED })))
  await until(async () => receiver.arrivals.length > 50, 'some')
  // From here on its duty is free for the other worker.
  await worker?.close()
  await until(async () => (await app.pg.query('select 1 from channel_deliveries')).rowCount === 0, 'all')
  const names = receiver.arrivals.map(({ headers }) => headers['webhook-id'])
  t.equal(new Set(names).size, 400)
  t.equal(names.length, 400, 'none came twice')
  for (const channel of [0, 7]) {
    const came = receiver.arrivals.filter(({ path }) => path === `/verysecretpath${channel}`).map(({ body }) => body.id)
    t.same(came, Array.from({ length: 50 }, (_none, index) => index + 1))
  }
  t.match(lines.join(''), 'request answered')
  t.notMatch(lines.join(''), 'verysecretpath')
})

t.test('a delivery that the end of its worker cuts off stays queued', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t, () => { /* no answer */ })
  await worker?.close()
  const logger = pino({ level: 'silent' })
  const third = await buildApp({ config, role: 'worker', databaseUrl, logger, features, packages: packages() })
  t.teardown(() => third.close())
  await third.ready()
  await create({ type: 'unpaced', url: receiver.url })
  await send('admin', [{}])
  await until(async () => receiver.arrivals.length === 1, 'the try')
  await third.close()
  t.match((await app.pg.query('select attempts from channel_deliveries')).rows, [{ attempts: 0 }])
})
