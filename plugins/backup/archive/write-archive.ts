import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { HASHES } from './manifest.ts'

/** Size at which a list of hashes is written, because the list of a whole archive may not fit into memory. */
const LIST_BYTES = 256 * 1024
const PIECE_BYTES = 256 * 1024

/** Returns one line of a list of hashes. */
export const hashLine = (sha256: string, size: number, name: string) => `${JSON.stringify([sha256, size, name])}\n`

const toError = (err: unknown): Error => err instanceof Error ? err : new Error(String(err))

type Content = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Yields a content in pieces. */
function * cut (content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += PIECE_BYTES) yield content.subarray(at, at + PIECE_BYTES)
}

/** Creates an archive in a new file: a tar compressed with gzip, which any system can open. */
export function writeArchive (path: string, signal: AbortSignal) {
  const tar = pack()
  // Most content is already compressed, or is text that the fastest level compresses well.
  const gzip = createGzip({ level: constants.Z_BEST_SPEED })
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true })
  const written = pipeline(tar, gzip, file, { signal })
  // `end` awaits this promise. A failure also closes every entry, so callers that add entries receive the error too.
  let failure: unknown
  const fail = (err: unknown) => { failure ??= err }
  const throwFailure = () => { if (failure !== undefined) throw toError(failure) }
  written.catch(fail)
  let lines: string[] = []
  let listed = 0
  let lists = 0
  let entries = 0

  async function writeEntry (name: string, size: number, content: Content): Promise<void> {
    throwFailure()
    const hash = createHash('sha256')
    const entry = tar.entry({ name, size, mode: 0o600, mtime: new Date(0) })
    const ended = once(entry, 'close').catch(fail)
    let done = 0
    for await (const chunk of content) {
      done += chunk.byteLength
      if (done > size) break
      hash.update(chunk)
      if (!entry.write(chunk)) await Promise.race([once(entry, 'drain'), ended])
      throwFailure()
    }
    if (done !== size) throw new Error(`${name} changed while it was read`)
    entry.end(null)
    await ended
    throwFailure()
    entries++
    lines.push(hashLine(hash.digest('hex'), size, name))
    listed += name.length
  }

  async function writeList (): Promise<void> {
    const content = Buffer.from(lines.join(''))
    lists++
    await writeEntry(`${HASHES}${String(lists).padStart(6, '0')}`, content.length, cut(content))
    // A list does not contain itself.
    lines = []
    listed = 0
  }

  return {
    /** Number of entries so far, including lists. */
    count: () => entries,

    /** Adds a content of known size. */
    async stream (name: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void> {
      await writeEntry(name, size, content)
      if (listed + lines.length * 80 > LIST_BYTES) await writeList()
    },

    async buffer (name: string, content: Buffer): Promise<void> {
      await writeEntry(name, content.length, cut(content))
      if (listed + lines.length * 80 > LIST_BYTES) await writeList()
    },

    /** Writes the last list of hashes; only the final entry follows. */
    closeLists: writeList,

    /** Resolves when everything is on disk. */
    async end (): Promise<void> {
      tar.finalize()
      await written
    },

    /** Aborts the archive; the caller deletes the file. */
    async abort (): Promise<void> {
      tar.destroy(new Error('The archive was abandoned'))
      gzip.destroy()
      file.destroy()
      await written.catch(() => undefined)
      if (!file.closed) await once(file, 'close')
    }
  }
}
export type ArchiveWriter = ReturnType<typeof writeArchive>
