/** First and last byte, both included. */
export interface ByteRange { start: number, end: number }

const BYTES = /^\s*bytes\s*=(.*)$/is
const SPEC = /^(\d*)\s*-\s*(\d*)$/

/**
 * Returns the one range of a `Range` header. Null means the whole file: other units, invalid headers such as a range
 * that ends before it begins, and several ranges at once, which a server may ignore. See RFC 9110, section 14.
 *
 * @param size size of the whole file in bytes
 */
export function parseByteRange (header: string, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first, last] = SPEC.exec(BYTES.exec(header)?.[1]?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return start <= end ? { start, end } : 'unsatisfiable'
}
