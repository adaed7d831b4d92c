import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { conflict } from '../../core/errors.ts'
import { type ByteSource, ByteStream } from '../../core/web/byte-stream.ts'

/**
 * Reads exactly `length` bytes of an open file from `start`, and closes it. A file that is shorter causes an error,
 * because the length was already sent.
 */
export function readFile (handle: FileHandle, start: number, length: number): ByteSource {
  const end = start + length
  let position = start
  return {
    async read (buffer) {
      if (position >= end) return 0
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - position), position)
      if (bytesRead === 0) throw conflict(`The file ends ${end - position} bytes early; it was changed while it was sent`)
      position += bytesRead
      return bytesRead
    },
    close: () => handle.close()
  }
}

/** Streams a part of an open file, which is closed at the end, on an error, and when the stream is destroyed. */
export const createFileStream = (handle: FileHandle, start: number, length: number): Readable =>
  new ByteStream(readFile(handle, start, length))
