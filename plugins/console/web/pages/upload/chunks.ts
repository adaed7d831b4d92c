/** The size of a chunk: small enough to repeat after a lost connection, and to show progress. */
export const CHUNK_BYTES = 4 * 1024 * 1024

export interface Chunk { readonly index: number, readonly start: number, readonly end: number }

export const countChunks = (size: number): number => Math.max(1, Math.ceil(size / CHUNK_BYTES))

/** Lists the chunks of a file that the server does not have. */
export function listMissing (size: number, received: readonly number[] = []): Chunk[] {
  const known = new Set(received)
  const all = Array.from({ length: countChunks(size) }, (_, index) => (
    { index, start: index * CHUNK_BYTES, end: Math.min(size, (index + 1) * CHUNK_BYTES) }
  ))
  return all.filter(({ index }) => !known.has(index))
}

/** Returns a name as a header carries it: each byte of its UTF-8 form as one character. */
export const toHeader = (name: string): string =>
  Array.from(new TextEncoder().encode(name), (byte) => String.fromCharCode(byte)).join('')
