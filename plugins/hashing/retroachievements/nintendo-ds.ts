// Header: https://problemkaputt.de/gbatek.htm#dscartridgeheader
import { createHash } from 'node:crypto'
import type { ContentRule } from './cartridges.ts'
import { digestRange, readWhole } from './images/file-reads.ts'

const HEADER_BYTES = 512
const HASHED_HEADER_BYTES = 0x160
const ICON_BYTES = 0xa00
/** The largest program code. Programs have about 1 MB each; a file that claims more is no game of this console. */
const MAX_CODE_BYTES = 16 * 1024 ** 2
/** The loader of the SuperCard, put before some dumps. */
const SUPERCARD = { start: Buffer.from('2e0000ea', 'hex'), at: 0xb0, mark: Buffer.from('44469600', 'hex') }

/** Hashes the header, both programs, and the icon with the titles. */
export const hashNintendoDs: ContentRule = async (content) => {
  if (content.size < HEADER_BYTES) return null
  const first = await readWhole(content, 0, HEADER_BYTES)
  const offset = isSuperCard(first) ? HEADER_BYTES : 0
  if (content.size < offset + HEADER_BYTES) return null
  const header = offset === 0 ? first : await readWhole(content, offset, HEADER_BYTES)
  const arm9 = { at: header.readUInt32LE(0x20), size: header.readUInt32LE(0x2c) }
  const arm7 = { at: header.readUInt32LE(0x30), size: header.readUInt32LE(0x3c) }
  if (arm9.size + arm7.size > MAX_CODE_BYTES) return null
  const digest = createHash('md5').update(header.subarray(0, HASHED_HEADER_BYTES))
  await digestRange(digest, content, offset + arm9.at, arm9.size)
  await digestRange(digest, content, offset + arm7.at, arm7.size)
  const icon = await content.read(offset + header.readUInt32LE(0x68), ICON_BYTES)
  return digest.update(icon).update(Buffer.alloc(ICON_BYTES - icon.length)).digest('hex')
}

function isSuperCard (header: Buffer): boolean {
  const { start, at, mark } = SUPERCARD
  return header.subarray(0, start.length).equals(start) && header.subarray(at, at + mark.length).equals(mark)
}
