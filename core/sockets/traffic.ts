import type { Namespace, Socket } from 'socket.io'
import { MESSAGE_MAX_BYTES } from './request.ts'

export type Connection = Socket['conn']

const PACKETS_PER_SECOND = 100
/** A message may have attachments, and several messages may arrive at once. */
const BYTES_PER_SECOND = 8 * MESSAGE_MAX_BYTES
/** The most bytes that wait for a slow client. */
const WAITING_MAX_BYTES = 16 * MESSAGE_MAX_BYTES
const SECOND_MS = 1_000

const bytesOf = ({ data }: { data?: unknown }): number =>
  typeof data === 'string' || Buffer.isBuffer(data) ? data.length : 0

/** Closes a connection that exceeds the rate, with all its sockets. Opening a namespace also needs a packet. */
export function limitRate (connection: Connection): void {
  let [packets, bytes, windowStart] = [0, 0, performance.now()]
  connection.on('packet', (packet: { data?: unknown }) => {
    const now = performance.now()
    if (now - windowStart >= SECOND_MS) [packets, bytes, windowStart] = [0, 0, now]
    packets++
    bytes += bytesOf(packet)
    if (packets > PACKETS_PER_SECOND || bytes > BYTES_PER_SECOND) connection.close(true)
  })
}

/** Closes a connection whose client reads too slowly. */
export function limitWaiting (connection: Connection): void {
  let bytes = 0
  connection.on('packetCreate', (packet: { data?: unknown }) => {
    bytes += bytesOf(packet)
    if (bytes > WAITING_MAX_BYTES) connection.close(true)
  })
  connection.on('flush', () => { bytes = 0 })
}

/** Limits a connection to one socket per namespace at a time; regular clients never open a second one. */
export function limitSockets (namespace: Namespace): void {
  const open = new WeakMap<Connection, Socket>()
  namespace.on('connection', (socket) => {
    if (open.get(socket.conn)?.connected === true) socket.conn.close(true)
    open.set(socket.conn, socket)
  })
}
