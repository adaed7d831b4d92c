import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import limitConnections, { readOpenFilesLimit } from '../../core/web/limit-connections.ts'

t.test('connections beyond three quarters of the open files are closed', async (t) => {
  const lines: string[] = []
  const app = fastify({ forceCloseConnections: true, logger: { level: 'warn', stream: { write: (line) => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(limitConnections, { filesMax: 4 })
  app.get('/', async () => 'served')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const ended: Promise<unknown>[] = []
  const idle = Array.from({ length: 5 }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    ended.push(once(socket, 'close').then(() => socket))
    return socket
  })
  const first = await Promise.race(ended)
  await Promise.race(ended.filter((_end, index) => idle[index] !== first))
  t.equal(idle.filter(({ destroyed }) => !destroyed).length, 3)
  t.match(lines, [/raise the limit of open files, which is 4/], 'one line for all of them')

  for (const socket of idle) socket.destroy()
  const served = async (): Promise<string> => await fetch(`http://127.0.0.1:${port}/`).then((reply) => reply.text(), served)
  t.equal(await served(), 'served')
})

t.test('the limit of open files is that of the process', (t) => {
  t.ok(readOpenFilesLimit() > 100)
  t.equal(readOpenFilesLimit({ userLimits: { open_files: { soft: 1024, hard: 4096 } } }), 1024)
  for (const report of [{}, { userLimits: { open_files: { soft: 'unlimited', hard: 'unlimited' } } }]) t.equal(readOpenFilesLimit(report), Infinity)
  t.end()
})
