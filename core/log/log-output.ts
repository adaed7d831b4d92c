import { writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'
import { errorCode } from '../files/fs-error.ts'

/** The time until another attempt to write to a pipe whose reader is behind. */
const FULL_PIPE_MS = 100

/** Writes bytes of a buffer from an offset on. @returns the number of written bytes */
type Write = (bytes: Buffer, offset: number) => number

/** Lines that could not be written, and the reason of the last one. */
export interface LostLines { count: number, err: unknown }

const clock = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/**
 * Creates the target of the log, which never fails: pino.destination would end the process if the disk of a log file is
 * full. A line that cannot be written is lost.
 *
 * @param onWritable called after the first line that was written again
 */
export function createLogOutput (
  onWritable: (lost: LostLines) => void, write: Write = (bytes, offset) => writeSync(1, bytes, offset)
): DestinationStream {
  let lost: LostLines | null = null
  /** True if the output ends with a part of a line. */
  let isTorn = false

  function writeAll (bytes: Buffer): void {
    for (let offset = 0; offset < bytes.length;) {
      try {
        offset += write(bytes, offset)
        isTorn = offset < bytes.length
      } catch (err) {
        if (errorCode(err) !== 'EAGAIN') throw err
        Atomics.wait(clock, 0, 0, FULL_PIPE_MS)
      }
    }
  }

  return {
    write (line) {
      try {
        writeAll(Buffer.from(isTorn ? `\n${line}` : line))
      } catch (err) {
        lost = { count: (lost?.count ?? 0) + 1, err }
        return
      }
      const before = lost
      lost = null
      if (before !== null) onWritable(before)
    }
  }
}
