import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { pack } from 'tar-stream'
import { ZipFile } from 'yazl'
import { SERVER_DIR } from '../../../core/server-dir.ts'

/** Where `t.testdir` makes its folders. */
export const FOLDERS = [join(SERVER_DIR, '.tap')]

export interface Content { name: string, bytes: Buffer }

/** Members in an order that differs from the order of their names. */
export const MEMBERS: Content[] = [
  { name: 'b.aaa', bytes: Buffer.from('beta\n') },
  { name: 'd/c.ccc', bytes: Buffer.from('gamma\n'.repeat(100)) },
  { name: 'a.bbb', bytes: Buffer.from('alpha\n') }
]

/** The same members in formats that no available tool can write, and `a.bbb` alone. */
export const PACKED = {
  '7z': 'N3q8ryccAAQnXpNnkAAAAAAAAAAhAAAAAAAAANNC1wYAMJsKZySOXCZvgHRY+2fGGjN4+eMb3IWAAAAAgTMHrg/PpC64D+vqngENYgON' +
    '0+IJBY06sg+GMksTpOkcmdLB6EgW93b0v+k/93oDKMFpLBHEr0iLyKNPw2M3IOYcI42T4BPsOTUbHnitrKZvkqX+aLTFehq1uWu/BA9QgWtK' +
    'lbiDNbZMXkr9YpUKB33AAAAXBhoBCXYABwsBAAEjAwEBBV0AEAAADICmCgE2zKO/AAA=',
  'encrypted.7z': 'N3q8ryccAATU6gISEAAAAAAAAABiAAAAAAAAABUQurvHM86aNuKRK/iAHCHNgvEzAQQGAAEJEAAHCwEAAiQG8QcBElMPDmPR' +
    'Fh8yq63w69VTWqxDbiEhAQABAAwKBgAICgHsbmCfAAAFARkBABENAGEALgBiAGIAYgAAABQKAQCCC/rhdHndARUGAQAggKSBAAA=',
  'tar.bz2': 'QlpoOTFBWSZTWeddwV0AAUr7jMkQAEBAAf+AACh+xt4AAACAAIDIMAC5oYNNGmmExMmAgaYRpT1PU0AeoAAAAilE9I0aMhpoBoGantw5' +
    'YWM5MNZCDGlRS2+7g2DW8b6A1DvYUChDcKDQ0vtobdF3Wp0uEA2MAPPoawbgwNQyPhzBHiJQZsDQUi1QbgssYhgCkG0u2IkGejtn6BBqemcS' +
    'l1ximcvKgNWWzaCDAIOI5DlS8H6zZDnNm1KB/F3JFOFCQ513BXQ=',
  'tar.xz': '/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4Cf/AJ9dADELiDoADWXKeexSCPh73f9yTVuO4rOGht9da29UjvioPUawyqlJVAFpS/q3x0VV' +
    '3LB1AxrmY9KxpPas6ZPreHzKGdnFtF8uEeggV/C4wvDHGoMg7r+FPBRiTdxJ5dEBO45zliOK9qx9yLXT0CChV0mxkmJQCunD0QnV6QT8Gibe' +
    'Q67itC5CPNjvYRHDxMVlLIhmL6p7uXnS8gQETcbWAAAANeLKk7uDGW0AAbsBgFAAAFCG3Q+xxGf7AgAAAAAEWVo=',
  bz2: 'QlpoOTFBWSZTWRG7MZUAAAFBgAAQIERAACAAIYNBmglpji7kinChICN2Yyo=',
  xz: '/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAFYWxwaGEKAAAAzas+MriZnfIAAR4GwS+kHR+2830BAAAAAARZWg=='
}

export function unpackFixture (name: keyof typeof PACKED): Buffer {
  return Buffer.from(PACKED[name], 'base64')
}

/** Hashes consecutive pieces by the simplest means. */
export function expectedHashes (...pieces: Uint8Array[]) {
  const bytes = Buffer.concat(pieces)
  return {
    crc_hash: crc32(bytes).toString(16).padStart(8, '0'),
    md5_hash: createHash('md5').update(bytes).digest('hex'),
    sha1_hash: createHash('sha1').update(bytes).digest('hex')
  }
}

export function sortedMembers (members: readonly Content[] = MEMBERS): Content[] {
  return members.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
}

export async function makeZip (members: readonly Content[], mode = 0o100644): Promise<Buffer> {
  const zip = new ZipFile()
  for (const { name, bytes } of members) zip.addBuffer(bytes, name, { mode })
  zip.end()
  return buffer(zip.outputStream)
}

export async function makeTar (members: readonly Content[], links: readonly string[] = []): Promise<Buffer> {
  const tar = pack()
  for (const name of links) tar.entry({ name, type: 'symlink', linkname: '/etc/passwd' })
  for (const { name, bytes } of members) tar.entry({ name }, bytes)
  tar.finalize()
  const pieces: Uint8Array[] = []
  tar.on('data', (piece) => {
    if (piece instanceof Uint8Array) pieces.push(piece)
  })
  await once(tar, 'end')
  return Buffer.concat(pieces)
}

/** Makes a rar of version 4 whose members are stored: https://github.com/libarchive/libarchive/wiki/FormatRar */
export function makeRar (members: readonly Content[]): Buffer {
  const blocks = members.map(({ name, bytes }) => {
    const header = Buffer.alloc(25)
    header.writeUInt32LE(bytes.length, 0)
    header.writeUInt32LE(bytes.length, 4)
    header.writeUInt8(3, 8)
    header.writeUInt32LE(crc32(bytes), 9)
    header.writeUInt8(20, 17)
    header.writeUInt8(0x30, 18)
    header.writeUInt16LE(name.length, 19)
    header.writeUInt32LE(0o100644, 21)
    return Buffer.concat([rarBlock(0x74, 0x8000, Buffer.concat([header, Buffer.from(name)])), bytes])
  })
  const marker = Buffer.from('Rar!\x1a\x07\x00', 'latin1')
  return Buffer.concat([marker, rarBlock(0x73, 0, Buffer.alloc(6)), ...blocks, rarBlock(0x7b, 0x4000, Buffer.alloc(0))])
}

function rarBlock (type: number, flags: number, fields: Buffer): Buffer {
  const block = Buffer.alloc(7 + fields.length)
  block.writeUInt8(type, 2)
  block.writeUInt16LE(flags, 3)
  block.writeUInt16LE(block.length, 5)
  fields.copy(block, 7)
  block.writeUInt16LE(crc32(block.subarray(2)) & 0xffff, 0)
  return block
}
