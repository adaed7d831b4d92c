import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import type { Test } from 'tap'

/** A TCP proxy whose connections a test can cut. */
export interface Gate {
  port: number
  /** The local ports of all connections to the server so far. */
  ports: ReadonlySet<number>
  /** Ends all connections and refuses new ones. */
  close (): void
  /** Holds all data back, in both directions. Connections stay open, as when a cable is pulled. */
  stall (): void
  /** Passes on nothing from now on and accepts new connections silently, as a machine without power does. */
  vanish (): void
  /**
   * Lets new connections through, to this port if it is given. Passes on what `stall` held back; connections from
   * before `vanish` stay silent.
   */
  open (port?: number): void
}

/** Starts a proxy in front of a server on this machine. */
export async function startGate (t: Pick<Test, 'teardown'>, targetPort: number, address = '127.0.0.1'): Promise<Gate> {
  const sockets = new Set<Socket>()
  const ports = new Set<number>()
  /** Connections that wait until the gate opens. */
  const waiting = new Set<Socket>()
  /** Connections that stay silent. Their other ends do not learn of their end. */
  const silent = new WeakSet<Socket>()
  let state: 'open' | 'stalled' | 'vanished' | 'closed' = 'open'
  let port = targetPort

  const isSilent = (socket: Socket) => state !== 'open' || silent.has(socket)

  function join (client: Socket): void {
    const upstream = connect(port, address)
    upstream.on('connect', () => { if (upstream.localPort !== undefined) ports.add(upstream.localPort) })
    for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(one)
      one.on('error', () => { if (!silent.has(one)) other.destroy() }).on('close', () => {
        sockets.delete(one)
        // The other side learns of the end when the gate opens.
        if (!isSilent(one)) other.destroy()
      })
      one.on('data', (chunk) => { if (!other.write(chunk) && !isSilent(one)) one.pause() })
      other.on('drain', () => { if (!isSilent(one)) one.resume() })
    }
  }

  const server = createServer((client) => {
    if (state === 'closed') client.destroy()
    else if (state === 'open') join(client)
    else {
      const held = state === 'stalled' ? waiting : sockets
      if (state === 'vanished') silent.add(client)
      held.add(client)
      client.pause().on('error', () => {}).on('close', () => { held.delete(client) })
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = () => {
    state = 'closed'
    for (const socket of [...sockets, ...waiting]) socket.destroy()
  }
  const pauseAll = () => { for (const socket of sockets) socket.pause() }
  t.teardown(() => {
    close()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    ports,
    close,
    stall () {
      state = 'stalled'
      pauseAll()
    },
    vanish () {
      state = 'vanished'
      pauseAll()
      for (const socket of sockets) silent.add(socket)
    },
    open (newPort = port) {
      state = 'open'
      port = newPort
      for (const socket of sockets) if (!silent.has(socket)) socket.resume()
      for (const client of waiting) join(client)
      waiting.clear()
    }
  }
}
