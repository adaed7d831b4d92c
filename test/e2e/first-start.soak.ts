import { open } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { makeFolder } from '../folder.ts'
import { until } from '../until.ts'
import { runSvc, runSvcInto, settings, tryFetch, waitUntilListening } from './server.ts'

t.test('a server without an administrator says which page creates one', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const server = runSvc(t, ['start'], settings(dataDir, { WEB_SERVER_CONCURRENCY: '1' }))
  const { url } = await waitUntilListening(server, dataDir)
  await until(() => server.output().includes('There is no administrator yet'), 'the banner', server)
  t.match(server.output(), `Open ${url} in a browser to create one`)
})

t.test('a server continues when nobody reads its output', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const env = settings(dataDir, { WEB_SERVER_CONCURRENCY: '1' })
  const server = runSvc(t, ['start'], env)
  server.child.stdout?.destroy()
  const { url } = await waitUntilListening(server, dataDir)
  // The scan worker is ready when it scans, and the server then prints its banner.
  t.equal((await runSvc(t, ['scan'], env).ended).code, 0)
  t.equal((await tryFetch(`${url}/api/heartbeat`))?.status, 200)
  t.equal(server.child.exitCode, null)
})

t.test('a server continues while the disk of its log is full', { skip: process.platform !== 'linux' }, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const env = settings(dataDir, { WEB_SERVER_CONCURRENCY: '1', SVC_LOG_LEVEL: 'debug' })
  const full = await open('/dev/full', 'w')
  t.teardown(() => full.close())
  const server = runSvcInto(t, full.fd, ['start'], env)
  const { url } = await waitUntilListening(server, dataDir)
  t.equal((await runSvc(t, ['scan'], env).ended).code, 0)
  t.equal((await tryFetch(`${url}/api/heartbeat`))?.status, 200)
  t.equal(server.child.exitCode, null)
})
