// Rules: https://docs.retroachievements.org/developer-docs/game-identification.html
import { createHash, hash } from 'node:crypto'
import { hasCopierHeader, hasPcEngineHeader, MAX_HASHED_BYTES } from './consoles.ts'
import { digestRange, readWhole, type Reads } from './images/file-reads.ts'

/** Hashes the content of a file; null if the content does not suit the console. */
export type ContentRule = (content: Reads) => Promise<string | null>

const COPIER_HEADER_BYTES = 512
const CHUNK_BYTES = 256 * 1024
/** The largest text file. A program of 32 KiB takes less than 100 KB as text. */
const MAX_TEXT_BYTES = 4 * 1024 ** 2

export const hashWhole: ContentRule = (content) => hashFrom(content, 0)

export const hashSnes: ContentRule = (content) =>
  hashFrom(content, hasCopierHeader(hashedBytes(content)) ? COPIER_HEADER_BYTES : 0)

export const hashPcEngine: ContentRule = (content) =>
  hashFrom(content, hasPcEngineHeader(hashedBytes(content)) ? COPIER_HEADER_BYTES : 0)

/** Creates a rule that skips a header, which the first bytes of a file identify. */
export function skipHeader (bytes: number, ...marks: { at: number, text: string }[]): ContentRule {
  return async (content) => {
    const start = (await content.read(0, 16)).toString('latin1')
    const isHeader = content.size >= bytes && marks.some(({ at, text }) => start.startsWith(text, at))
    return await hashFrom(content, isHeader ? bytes : 0)
  }
}

/** Hashes a ROM in the byte order of the cartridge; the first byte of the file tells its own order. */
export const hashN64: ContentRule = async (content) => {
  const [first] = await content.read(0, 1)
  const swap = first === undefined ? undefined : N64_ORDERS.get(first)
  if (swap === undefined) return null
  const digest = createHash('md5')
  const size = hashedBytes(content)
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const chunk = await readWhole(content, at, Math.min(CHUNK_BYTES, size - at))
    swap(chunk.subarray(0, chunk.length - chunk.length % 4))
    digest.update(chunk)
  }
  return digest.digest('hex')
}

const unchanged = () => undefined
const N64_ORDERS = new Map<number, (bytes: Buffer) => unknown>([
  [0x80, unchanged],
  [0x37, (bytes) => bytes.swap16()],
  [0x40, (bytes) => bytes.swap32()],
  // Disks of the 64DD.
  [0xe8, unchanged],
  [0x22, unchanged]
])

/** Hashes text in the Intel HEX format, with the line ends of any system. */
export const hashText: ContentRule = async (content) => {
  if (content.size === 0 || content.size > MAX_TEXT_BYTES) return null
  const text = (await readWhole(content, 0, content.size)).toString('latin1').replace(/\r\n?/g, '\n')
  return createHash('md5').update(text.endsWith('\n') ? text : `${text}\n`, 'latin1').digest('hex')
}

const hashedBytes = ({ size }: Reads) => Math.min(size, MAX_HASHED_BYTES)

async function hashFrom (content: Reads, start: number): Promise<string | null> {
  const size = hashedBytes(content)
  if (size === 0) return null
  // Most cartridges are small, and a hash object costs more than their hash.
  if (size - start <= CHUNK_BYTES) return hash('md5', await readWhole(content, start, size - start))
  const digest = createHash('md5')
  await digestRange(digest, content, start, size - start)
  return digest.digest('hex')
}
