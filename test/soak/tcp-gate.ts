import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import type { Test } from 'tap'

/** A TCP proxy whose connections a test can cut. */
export interface Gate {
  port: number
  /** Ends all connections and refuses new ones. */
  close (): void
  /** Passes on nothing from now on and accepts new connections silently, as a machine without power does. */
  stall (): void
  /** Lets new connections through, to this port if it is given. Stalled connections stay stalled. */
  open (port?: number): void
}

/** Starts a proxy in front of a server on this machine. */
export async function startGate (t: Pick<Test, 'teardown'>, targetPort: number, address = '127.0.0.1'): Promise<Gate> {
  const sockets = new Set<Socket>()
  /** Their other ends do not learn of their end. */
  const stalled = new WeakSet<Socket>()
  let state: 'open' | 'stalled' | 'closed' = 'open'
  let port = targetPort
  const hold = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => { sockets.delete(socket) })
  }
  const server = createServer((client) => {
    if (state === 'closed') {
      client.destroy()
      return
    }
    if (state === 'stalled') {
      hold(client.pause())
      return
    }
    const upstream = connect(port, address)
    for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
      hold(one)
      one.on('close', () => { if (!stalled.has(one)) other.destroy() })
      one.pipe(other)
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = () => {
    state = 'closed'
    for (const socket of sockets) socket.destroy()
  }
  const stall = () => {
    state = 'stalled'
    for (const socket of sockets) stalled.add(socket.unpipe().pause())
  }
  t.teardown(() => {
    close()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    close,
    stall,
    open (newPort) {
      state = 'open'
      port = newPort ?? port
    }
  }
}
