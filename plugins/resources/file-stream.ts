import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { conflict } from '../../core/errors.ts'

const CHUNK_BYTES = 256 * 1024

/**
 * Streams exactly `length` bytes of an open file from `start`. The file is closed at the end, on an error, and when the
 * stream is destroyed. A file that is shorter causes an error, because the length was already sent.
 */
export function createFileStream (handle: FileHandle, start: number, length: number): Readable {
  const end = start + length
  let position = start

  async function readChunk (): Promise<Buffer | null> {
    if (position >= end) return null
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) throw conflict(`The file ends ${end - position} bytes early; it was changed while it was sent`)
    position += bytesRead
    return buffer.subarray(0, bytesRead)
  }

  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read () {
      readChunk().then((chunk) => { this.push(chunk) }, (err: Error) => { this.destroy(err) })
    },
    destroy (err, done) {
      handle.close().then(() => { done(err) }, (closing: Error) => { done(err ?? closing) })
    }
  })
}
