import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import type { Test } from 'tap'

/** A TCP proxy whose connections a test can cut. */
export interface Gate {
  port: number
  /** Ends all connections and refuses new ones. */
  close (): void
  open (): void
}

/** Starts a proxy in front of a server on this machine. */
export async function startGate (t: Pick<Test, 'teardown'>, targetPort: number, address = '127.0.0.1'): Promise<Gate> {
  const sockets = new Set<Socket>()
  let isOpen = true
  const server = createServer((client) => {
    if (!isOpen) {
      client.destroy()
      return
    }
    const upstream = connect(targetPort, address)
    for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(one)
      one.on('error', () => { other.destroy() }).on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = () => {
    isOpen = false
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(() => {
    close()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, close, open: () => { isOpen = true } }
}
