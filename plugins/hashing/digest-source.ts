import { read as readWithCallback, readSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Digest } from '../../core/archives/digest.ts'
import { CancelledError, type Watch } from '../../core/archives/limits.ts'
import type { Source } from '../../core/archives/source.ts'

const read = promisify(readWithCallback)

/** Small enough to stay in the processor's cache until the chunk is hashed. */
const CHUNK_BYTES = 512 * 1024
const first = Buffer.allocUnsafeSlow(CHUNK_BYTES)
const second = Buffer.allocUnsafeSlow(CHUNK_BYTES)

/** Reads a file that fits into one chunk; null if it is larger. The buffer is valid until the next read. */
export function readSmall (source: Source): Buffer | null {
  if (source.size >= CHUNK_BYTES) return null
  let filled = 0
  for (;;) {
    const got = readSync(source.fd, first, filled, CHUNK_BYTES - filled, filled)
    filled += got
    if (filled === CHUNK_BYTES) return null
    if (got === 0 || filled === source.size) return first.subarray(0, filled)
  }
}

/** Hashes a file of any size, reading the next chunk while the last one is hashed. @throws CancelledError */
export async function digestSource (source: Source, digests: readonly Digest[], watch: Watch): Promise<void> {
  let current = first
  let next = second
  let position = 0
  let { bytesRead } = await read(source.fd, current, 0, CHUNK_BYTES, position)
  while (bytesRead > 0) {
    if (watch.isCancelled()) throw new CancelledError('hashing was cancelled')
    position += bytesRead
    const reading = read(source.fd, next, 0, CHUNK_BYTES, position)
    for (const digest of digests) digest.update(current.subarray(0, bytesRead))
    ;({ bytesRead } = await reading);
    [current, next] = [next, current]
  }
}
