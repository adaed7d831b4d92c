import type { FileHandle } from 'node:fs/promises'

/** Pieces are written together, because each write waits for a thread. */
const WRITTEN_BYTES = 512 * 1024

/** Writes all bytes, because one write may write fewer. */
export async function writeAll (target: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await target.write(bytes, done, bytes.length - done, at + done)).bytesWritten
  }
}

/**
 * Frees the memory of a piece that has its own. Otherwise all pieces wait for the garbage collector, which then runs
 * for each 64 MB and takes more time than everything else.
 */
function free ({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

async function writeTogether (target: FileHandle, pieces: readonly Buffer[], at: number): Promise<void> {
  const { bytesWritten } = await target.writev(pieces, at)
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (bytesWritten < bytes) await writeAll(target, Buffer.concat(pieces).subarray(bytesWritten), at + bytesWritten)
  pieces.forEach(free)
}

/**
 * Writes the body of a request to a file, from this position, and flushes it to the disk. Receives the next pieces
 * meanwhile. No piece can be used after that.
 *
 * @param inspect receives each piece before it is written, and throws to stop
 */
export async function writePieces (
  target: FileHandle, start: number, content: AsyncIterable<Buffer>, inspect: (piece: Buffer) => void
): Promise<void> {
  let [at, bytes, pieces]: [number, number, Buffer[]] = [start, 0, []]
  let writing: Promise<void> = Promise.resolve()

  async function write (): Promise<void> {
    await writing
    writing = writeTogether(target, pieces, at)
    // If it fails, the next write or the end fails too.
    writing.catch(() => {})
    at += bytes
    ;[bytes, pieces] = [0, []]
  }

  try {
    for await (const piece of content) {
      inspect(piece)
      pieces.push(piece)
      bytes += piece.length
      if (bytes >= WRITTEN_BYTES) await write()
    }
    if (bytes > 0) await write()
    await writing
    await target.datasync()
  } finally {
    await writing.catch(() => {})
  }
}
