import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import limitConnections, { parseOpenFilesLimit } from '../../../core/web/limit-connections.ts'

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

t.test('the limit of open files is read from the limits of a process', (t) => {
  const limitsOf = (soft: string) => 'Limit                     Soft Limit           Hard Limit           Units     \n' +
    `Max processes             96240                96240                processes \nMax open files            ${soft.padEnd(20)} 4096                 files     \n`
  t.equal(parseOpenFilesLimit(limitsOf('1024')), 1024)
  for (const limits of [limitsOf('unlimited'), '']) t.equal(parseOpenFilesLimit(limits), Infinity)
  t.end()
})
