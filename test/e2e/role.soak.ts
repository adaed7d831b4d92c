import { request } from 'node:http'
import t from 'tap'
import { makeFolder } from '../folder.ts'
import { createTestDatabase } from '../support.ts'
import { until } from '../until.ts'
import { START_MS, createUsedDataDir, runSvc, settings } from './server.ts'

const ENDPOINT = '/ws/socket.io/?EIO=4&transport=polling'

t.test('SIGTERM ends a lone web server well, even if a client vanished mid-request', async (t) => {
  const dataDir = makeFolder(t)
  createUsedDataDir(dataDir)
  const server = runSvc(t, ['web'], settings(dataDir, { SVC_DATABASE_URL: await createTestDatabase(t) }))
  const findUrl = () => /"url":"([^"]+)"/.exec(server.output())
  const [, url = ''] = await until(findUrl, 'a server that is ready', { ...server, ms: START_MS })
  const hello = await (await fetch(`${url}${ENDPOINT}`)).text()
  const { sid } = JSON.parse(hello.slice(1)) as { sid: string }
  const sent = Promise.withResolvers<void>()
  const headers = { 'content-length': 100 }
  const half = request(`${url}${ENDPOINT}&sid=${sid}`, { method: 'POST', agent: false, headers }).on('error', () => {})
  half.write('4', () => { sent.resolve() })
  await sent.promise
  half.destroy()
  const isOver = async () => (await fetch(`${url}${ENDPOINT}&sid=${sid}`, { method: 'POST', body: '3' })).status === 400
  await until(isOver, 'the end of its session', server)

  server.child.kill('SIGTERM')
  // A server that waits for that client is ended by its own time limit, with exit code 1.
  const { code, signal, output } = await server.ended
  t.match({ code, signal }, { code: 0, signal: null }, output)
})
