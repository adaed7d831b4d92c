import { PathRefusedError } from '../files/safe-path.ts'
import { SizeMismatchError } from './store-errors.ts'
import type { ObjectSource } from './store.ts'

/** S3 allows 1,024 bytes, of which a store may use some for its own prefix. */
const KEY_MAX_BYTES = 900

/** Returns the reason why a store refuses a key; null for a valid key. */
function explainRefusedKey (key: string): string | null {
  if (key === '') return 'it is empty'
  if (key.includes('\0')) return 'it holds a NUL character'
  if (!key.isWellFormed()) return 'it is not valid Unicode'
  if (key.split('/').some((part) => part === '' || part === '.' || part === '..')) return 'each of its parts must be a name'
  if (Buffer.byteLength(key) > KEY_MAX_BYTES) return `it is longer than ${KEY_MAX_BYTES} bytes`
  return null
}

/**
 * Returns a key, or a folder of keys, unchanged.
 *
 * @throws PathRefusedError unless it is a relative path of plain names
 */
export function requireKey (key: string): string {
  const reason = explainRefusedKey(key)
  if (reason !== null) throw new PathRefusedError(key, reason)
  return key
}

/**
 * Yields the pieces of a source.
 *
 * @throws SizeMismatchError at the end, unless the source has the expected size
 */
export async function * checkSize (
  key: string, source: ObjectSource, expected: number | undefined
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of Buffer.isBuffer(source) ? [source] : source) {
    size += chunk.length
    yield chunk
  }
  if (expected !== undefined && size !== expected) throw new SizeMismatchError(key, expected, size)
}
