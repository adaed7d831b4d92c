import type { Socket } from 'socket.io'

type Connection = Socket['conn']

/** Connections of one network to one web worker that nobody has signed in on. */
const CONNECTIONS_MAX = 200

/** Counts the connections of those who are not signed in, by network. */
export function createGuestCount (max = CONNECTIONS_MAX) {
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
    hasRoom: (network: string) => (counts.get(network) ?? 0) < max,
    /** A connection is a guest's until `remove` says otherwise, or it closes. */
    add (connection: Connection, network: string): void {
      networks.set(connection, network)
      counts.set(network, (counts.get(network) ?? 0) + 1)
      connection.once('close', () => { remove(connection) })
    },
    remove
  }
}
