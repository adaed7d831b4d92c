import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from './statistics.ts'

export interface ListenersOrder { port: number, sockets: number, events: number }
export interface Spread { p50: number, p99: number, deliveries: number }

const toAddress = (number: number) => `10.0.${number >> 8}.${number & 255}`
/** The packet of socket.io that joins the main namespace, in a frame with an empty mask: RFC 6455, section 5.2. */
const JOIN = Buffer.from([0x81, 0x82, 0, 0, 0, 0, ...Buffer.from('40')])
const EVENT = '42['
/** Deliveries that arrive later do not count. */
const LATE_MS = 20_000

/** Calls `found` with the text of each whole frame, and returns the rest. Frames of a server have no mask. */
function readFrames (bytes: Buffer, found: (text: string) => void): Buffer {
  for (let at = 0; ;) {
    const short = (bytes[at + 1] ?? 0) & 0x7f
    const start = at + (short === 126 ? 4 : 2)
    if (bytes.length < start) return bytes.subarray(at)
    const end = start + (short === 126 ? bytes.readUInt16BE(at + 2) : short)
    if (bytes.length < end || at === bytes.length) return bytes.subarray(at)
    found(bytes.toString('latin1', start, Math.min(end, start + EVENT.length)))
    at = end
  }
}

/** Opens a socket that does little for each event. A thousand full clients would take more time than the server. */
async function open (port: number, number: number, heard: () => void): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  // Each comes from another network, because the server limits the guests of one.
  socket.write(`GET /ws/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\n` +
    'Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
    `X-Forwarded-For: ${toAddress(number)}\r\n\r\n`)
  let rest = Buffer.alloc(0)
  let isUpgraded = false
  const joined = new Promise<void>((resolve, reject) => {
    socket.on('data', (piece) => {
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      if (!isUpgraded) {
        const end = rest.indexOf('\r\n\r\n')
        if (end < 0) return
        if (!rest.toString('latin1', 0, 12).endsWith('101')) reject(new Error(rest.toString('latin1')))
        isUpgraded = true
        rest = rest.subarray(end + 4)
        socket.write(JOIN)
      }
      rest = Buffer.from(readFrames(rest, (text) => {
        if (text === EVENT) heard()
        else if (text.startsWith('40')) resolve()
      }))
    })
    socket.once('error', reject)
  })
  await Promise.all([once(socket, 'connect'), joined])
  return socket
}

process.once('message', ({ port, sockets: count, events }: ListenersOrder) => {
  const firsts: number[] = []
  const delays: number[] = []
  async function listen (): Promise<void> {
    for (let number = 0; number < count; number++) {
      let turn = 0
      await open(port, number, () => {
        const now = performance.now()
        firsts[turn] ??= now
        delays.push(now - (firsts[turn++] ?? now))
      })
    }
    process.send?.('open')
    await once(process, 'message')
    const end = performance.now() + LATE_MS
    while (delays.length < count * events && performance.now() < end) await sleep(50)
    const sorted = delays.toSorted((a, b) => a - b)
    const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)]
    process.send?.({ p50, p99, deliveries: sorted.length } satisfies Spread)
  }
  listen().catch((err: unknown) => {
    console.error(err)
    process.exit(1)
  })
})
process.once('disconnect', () => { process.exit(0) })
