import { inflateRawSync } from 'node:zlib'
import type { ZipMember } from '../context.ts'
import { ServiceDownError } from '../errors.ts'

// Offsets from https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.7, 4.3.12 and 4.3.16.
const END_SIGNATURE = 0x06054b50
const END_BYTES = 22
const CENTRAL_SIGNATURE = 0x02014b50
const CENTRAL_BYTES = 46
const LOCAL_BYTES = 30
const CHUNK_BYTES = 64

/** Yields the requested members of a small zip in memory, such as a test fixture: stored or deflated, no Zip64. */
export async function * readZip (bytes: Uint8Array, wanted: readonly string[]): AsyncIterable<ZipMember> {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = zip.length - END_BYTES
  if (end < 0 || zip.readUInt32LE(end) !== END_SIGNATURE) throw new ServiceDownError('the answer is not a zip')
  let at = zip.readUInt32LE(end + 16)
  while (at < end && zip.readUInt32LE(at) === CENTRAL_SIGNATURE) {
    const nameLength = zip.readUInt16LE(at + 28)
    const extraLength = zip.readUInt16LE(at + 30)
    const commentLength = zip.readUInt16LE(at + 32)
    const name = zip.toString('utf8', at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameLength)
    if (wanted.includes(name)) yield readMember(zip, at, name)
    at += CENTRAL_BYTES + nameLength + extraLength + commentLength
  }
}

function readMember (zip: Buffer, at: number, name: string): ZipMember {
  const method = zip.readUInt16LE(at + 10)
  const packed = zip.readUInt32LE(at + 20)
  const size = zip.readUInt32LE(at + 24)
  const local = zip.readUInt32LE(at + 42)
  const start = local + LOCAL_BYTES + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
  async function * chunks (): AsyncIterable<Uint8Array> {
    const raw = zip.subarray(start, start + packed)
    const bytes = method === 0 ? raw : inflateRawSync(raw)
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) yield bytes.subarray(from, from + CHUNK_BYTES)
  }
  return { name, size, chunks: chunks() }
}
