import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { until } from '../until.ts'
import type { FaultyNews } from './faulty-worker.ts'
import { APART, install } from './troublemaker.ts'

t.test('a plugin\'s unhandled error does not end the scan worker; its own error does', async (t) => {
  const { packages } = install(t, ['troublemaker'], APART)
  const plugin = packages.map((pack) => ({ ...pack, origin: 'built-in' }))
  const worker = fork(fileURLToPath(new URL('faulty-worker.ts', import.meta.url)), [JSON.stringify(plugin)])
  t.teardown(() => { worker.kill() })
  const ended = once(worker, 'exit')
  const news: FaultyNews[] = []
  worker.on('message', (message) => { news.push(message as FaultyNews) })

  await until(async () => news.length === 3, 'the errors of the plugin')
  const name = 'svc-provider-troublemaker'
  t.same(news.splice(0).map((one) => JSON.stringify(one)).sort(), [
    { error: 'between two turns', plugin: name }, { error: 'nobody caught this', plugin: name },
    { error: 'out of the blue', plugin: name }
  ].map((one) => JSON.stringify(one)))

  worker.send('iterate')
  await until(async () => news.length === 3, 'the plugin to go on')
  t.same(news.splice(0), [{ index: 0 }, { index: 1 }, { index: 2 }])

  worker.send('fail')
  t.same(await ended, [1, null])
  // The end of the process may be heard before its last message.
  await until(() => news.length > 0, 'the reason of the end')
  t.same(news, [{ fatal: 'a mistake of the server' }])
})
