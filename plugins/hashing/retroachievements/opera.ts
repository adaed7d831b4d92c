// The file system of the 3DO: https://github.com/barbeque/3dodump/blob/master/OperaFS-Format.md
import { createHash } from 'node:crypto'
import type { DiscRule } from './discs.ts'
import { digestFile, type DiscFile } from './images/iso9660.ts'
import { CONTENT_BYTES, type Track } from './images/tracks.ts'

const MARK = Buffer.from('015a5a5a5a5a01', 'hex')
const VOLUME_BYTES = 132
const FILE_ENTRY = 2
const ENTRY_BYTES = 0x48
const LAST_BLOCK = 0xffff
/** The most blocks that are read. The folder of the boot program has one or two; a hostile one may form a loop. */
const MAX_BLOCKS = 1024

/** Hashes the volume header and the boot program. */
export const hash3do: DiscRule = (disc) => {
  const track = disc.track(1)
  const volume = track?.read(0, VOLUME_BYTES)
  if (track === null || volume === undefined || volume.length < VOLUME_BYTES) return null
  if (!volume.subarray(0, MARK.length).equals(MARK)) return null
  const blockBytes = volume.readUIntBE(0x4d, 3)
  const boot = findBoot(track, volume.readUIntBE(0x65, 3) * blockBytes, blockBytes)
  if (boot === null) return null
  const digest = createHash('md5').update(volume)
  digestFile(digest, track, boot)
  return digest.digest('hex')
}

function findBoot (track: Track, root: number, blockBytes: number): DiscFile | null {
  let at = root
  for (let count = 0; count < MAX_BLOCKS; count++) {
    const block = track.read(Math.floor(at / CONTENT_BYTES), CONTENT_BYTES)
    if (block.length < CONTENT_BYTES) return null
    const found = findInBlock(block)
    if (found !== null) return found
    const next = block.readUInt16BE(2)
    if (next === LAST_BLOCK) return null
    at = root + next * blockBytes
  }
  return null
}

function findInBlock (block: Buffer): DiscFile | null {
  const end = Math.min(block.readUIntBE(0x0d, 3), block.length)
  for (let at = block.readUInt16BE(0x12); at + ENTRY_BYTES <= end;) {
    const entry = block.subarray(at, at + ENTRY_BYTES)
    const name = entry.toString('latin1', 0x20, 0x40).replace(/\0.*$/s, '').toLowerCase()
    const size = entry.readUIntBE(0x11, 3)
    if (entry[3] === FILE_ENTRY && name === 'launchme' && size > 0) {
      return { sector: Math.floor(entry.readUIntBE(0x45, 3) * entry.readUIntBE(0x0d, 3) / CONTENT_BYTES), size }
    }
    at += ENTRY_BYTES + (entry[0x43] ?? 0) * 4
  }
  return null
}
