import type { Socket } from 'socket.io'

type Connection = Socket['conn']

/** The most guest connections from one network to one web worker. */
const CONNECTIONS_MAX = 200

/** Counts the connections of guests by network. */
export function createGuestCount () {
  const counts = new Map<string, number>()
  const networks = new Map<Connection, string>()

  function remove (connection: Connection): void {
    const network = networks.get(connection)
    if (network === undefined) return
    networks.delete(connection)
    const left = (counts.get(network) ?? 1) - 1
    if (left === 0) counts.delete(network)
    else counts.set(network, left)
  }

  return {
    hasRoom: (network: string) => (counts.get(network) ?? 0) < CONNECTIONS_MAX,
    /** Counts a connection as a guest's until `remove` is called or it closes. */
    add (connection: Connection, network: string): void {
      networks.set(connection, network)
      counts.set(network, (counts.get(network) ?? 0) + 1)
      connection.once('close', () => { remove(connection) })
    },
    remove
  }
}
export type GuestCount = ReturnType<typeof createGuestCount>
