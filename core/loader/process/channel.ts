import type { Duplex } from 'node:stream'
import { deserialize, serialize } from 'node:v8'

/** The file descriptor of the channel in the plugin's process. */
export const CHANNEL_FD = 3
const HEADER_BYTES = 4

export interface ChannelOptions {
  onMessage (message: unknown): void
  /** Called if the other end sent an invalid message, or reads too slowly. */
  onFault (fault: Error): void
  /** The longest message that is read; with one, lists that are longer than their message are no message. */
  maxBytes?: number
  /** The most bytes that may wait for the other end to read them. */
  backlogBytes?: number
}

const inMiB = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MiB`

/**
 * Each entry of a list takes a byte or more, unless the list has gaps: a few bytes can then say that it is as long as
 * to hold up whoever goes through it.
 *
 * @throws Error when the lists of a message have more entries together than it has bytes
 */
function checkLists (message: unknown, bytes: number): void {
  const known = new Set<object>()
  const open: object[] = []
  let entries = 0
  const visit = (value: unknown) => {
    if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) open.push(value)
  }
  visit(message)
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (known.has(value)) continue
    known.add(value)
    if (Array.isArray(value)) {
      entries += value.length
      if (entries > bytes) throw new Error(`a list of ${value.length} entries in ${bytes} bytes`)
      value.forEach(visit)
    } else if (value instanceof Map) {
      value.forEach((inner, key) => { visit(inner); visit(key) })
    } else if (value instanceof Set) {
      value.forEach(visit)
    } else {
      Object.values(value).forEach(visit)
    }
  }
}

/**
 * Messages over a stream: four bytes of length, then the structured clone. Node's own channel of child processes is not
 * used: its receiver has no size limit, and some messages that a child can forge end the parent.
 */
export function createChannel (
  stream: Duplex, { onMessage, onFault, maxBytes = Infinity, backlogBytes = Infinity }: ChannelOptions
) {
  let chunks: Buffer[] = []
  let bytes = 0
  /** Length of the message that is arriving; null before its header is complete. */
  let length: number | null = null
  let isFaulty = false

  function fault (message: string): void {
    isFaulty = true
    chunks = []
    onFault(new Error(message))
  }

  function take (count: number): Buffer {
    const all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
    bytes -= count
    chunks = bytes === 0 ? [] : [all.subarray(count)]
    return all.subarray(0, count)
  }

  function deliver (body: Buffer): void {
    try {
      const message: unknown = deserialize(body)
      if (maxBytes !== Infinity) checkLists(message, body.length)
      onMessage(message)
    } catch (err) {
      fault(`it sent what is no message: ${err instanceof Error ? err.message : String(err)}`)
    }
  }

  stream.on('data', (chunk: Buffer) => {
    if (isFaulty) return
    chunks.push(chunk)
    bytes += chunk.length
    while (!isFaulty) {
      if (length === null) {
        if (bytes < HEADER_BYTES) return
        length = take(HEADER_BYTES).readUInt32BE()
        if (length > maxBytes) {
          fault(`it sent a message of ${inMiB(length)}; ${inMiB(maxBytes)} are allowed`)
          return
        }
      }
      if (bytes < length) return
      const body = take(length)
      length = null
      deliver(body)
    }
  })
  // A broken stream means that the other end is gone; its exit or the end of the stream reports it.
  stream.on('error', () => {})

  return {
    /** @throws if the message cannot be cloned, such as one with a function */
    send (message: unknown, onSent?: () => void): void {
      const body = serialize(message)
      const header = Buffer.alloc(HEADER_BYTES)
      header.writeUInt32BE(body.length)
      stream.cork()
      stream.write(header)
      stream.write(body, onSent)
      stream.uncork()
      if (stream.writableLength > backlogBytes && !isFaulty) {
        fault(`it left more than ${inMiB(backlogBytes)} of answers unread`)
      }
    }
  }
}
export type Channel = ReturnType<typeof createChannel>
