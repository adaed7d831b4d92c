import type { Duplex } from 'node:stream'
import { deserialize, serialize } from 'node:v8'

/** The file descriptor of the channel in the plugin's process. */
export const CHANNEL_FD = 3
const HEADER_BYTES = 4

export interface ChannelOptions {
  /** @param bytes the length of the message */
  onMessage (message: unknown, bytes: number): void
  /** Called if the other end sent an invalid message, or reads too slowly. */
  onFault (fault: Error): void
  /** The longest message that is read; with one, a message with more entries than bytes is none. */
  maxBytes?: number
  /** The most bytes that may wait for the other end to read them. */
  backlogBytes?: number
}

const inMiB = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MiB`

/** The entries that any message may have, because a value that it names twice counts twice. */
const ENTRIES_MIN = 100_000

/**
 * Limits the work of code that reads a message. Each entry takes a byte or more, with two exceptions: a list with
 * gaps, and a value that the message names several times. Such values could stand for any number of entries.
 *
 * @throws Error when the message has more entries than bytes
 */
function checkEntries (message: unknown, bytes: number): void {
  const entriesMax = Math.max(bytes, ENTRIES_MIN)
  const open: object[] = []
  let entries = 0
  const add = (count: number) => {
    entries += count
    if (entries > entriesMax) throw new Error(`more than ${entriesMax} entries in ${bytes} bytes`)
  }
  const visit = (value: unknown) => {
    if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) open.push(value)
  }
  visit(message)
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) {
      add(value.length)
      value.forEach(visit)
    } else if (value instanceof Map) {
      add(value.size)
      value.forEach((inner, key) => { visit(inner); visit(key) })
    } else if (value instanceof Set) {
      add(value.size)
      value.forEach(visit)
    } else {
      const inner: unknown[] = Object.values(value)
      add(inner.length + 1)
      inner.forEach(visit)
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
      if (maxBytes !== Infinity) checkEntries(message, body.length)
      onMessage(message, body.length)
    } catch (err) {
      fault(`it sent an invalid message: ${err instanceof Error ? err.message : String(err)}`)
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
