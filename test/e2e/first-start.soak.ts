import { join } from 'node:path'
import t from 'tap'
import { makeFolder } from '../folder.ts'
import { until } from '../until.ts'
import { runSvc, settings, waitUntilListening } from './server.ts'

t.test('a server without an administrator says which page creates one', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const server = runSvc(t, ['start'], settings(dataDir, { WEB_SERVER_CONCURRENCY: '1' }))
  const { url } = await waitUntilListening(server, dataDir)
  await until(() => server.output().includes('There is no administrator yet'), 'the banner', server)
  t.match(server.output(), `Open ${url} in a browser to create one`)
})
