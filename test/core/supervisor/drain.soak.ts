import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import t from 'tap'
import { createDrain } from '../../../core/supervisor/drain.ts'
import { until } from '../../until.ts'
import { closeOf, startServer, upload } from './drain-support.ts'

/** Later than the end of any test. */
const LATE_MS = 600_000

function open (port: number, text: string): { socket: Socket, ended: Promise<unknown> } {
  const socket = connect(port, '127.0.0.1').on('error', () => { /* cut off */ })
  socket.resume().write(text)
  return { socket, ended: once(socket, 'close') }
}

const isRefused = (port: number) => new Promise<boolean>((resolve) => {
  connect(port, '127.0.0.1').on('error', () => { resolve(true) }).on('connect', function (this: Socket) {
    this.destroy()
    resolve(false)
  })
})

t.test('a drain finishes running uploads, cuts off downloads and refuses newcomers', async (t) => {
  const { server, port } = await startServer(t)
  const drain = createDrain(server, 1)
  const heard: (string | undefined)[] = []
  server.on('request', ({ method }) => { heard.push(method) })
  const download = open(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const beginning = open(port, 'POST / HTTP/1.1\r\nHost:')
  const { request, ended } = upload(port)
  const count = () => new Promise<number>((resolve) => {
    server.getConnections((_err, number) => { resolve(number) })
  })
  await until(async () => await count() === 3, 'three connections')
  await until(async () => heard.includes('POST') && download.socket.bytesRead > 0, 'both requests')

  const drained = drain(closeOf(server), LATE_MS)
  await Promise.all([download.ended, beginning.ended])
  await until(() => isRefused(port), 'a closed door')
  request.end('rest')
  t.equal(await ended, 200)
  await drained
})
