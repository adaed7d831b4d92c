// Rule: https://docs.retroachievements.org/developer-docs/game-identification.html
import { createHash } from 'node:crypto'
import { MAX_HASHED_BYTES } from './consoles.ts'
import type { DiscRule } from './discs.ts'
import { RAW_BYTES, type Track } from './images/tracks.ts'

const HEADER = Buffer.from('ATARI APPROVED DATA HEADER ATRI ')
const SWAPPED_HEADER = Buffer.from(HEADER).swap16()
/** Homebrew discs share this boot program and keep the game on track 2. */
const HOMEBREW_BOOT = '254487b59ab21bc005338e85cbf9fd2f'
const HOMEBREW_MARK = { at: 0x5e, text: 'RT!IRTKA' }
const HOMEBREW_SIZE_AT = 0xa6
const HEADER_FROM = 64

/**
 * Hashes the boot program. All tracks are audio; the program follows a header that is two bytes into the second
 * session.
 */
export const hashJaguarCd: DiscRule = (disc) => {
  const track = disc.track('second-session')
  const sector = track?.read(track.firstSector, RAW_BYTES)
  if (track === null || sector?.length !== RAW_BYTES) return null
  for (const [header, isSwapped] of [[HEADER, false], [SWAPPED_HEADER, true]] as const) {
    const at = sector.indexOf(header, HEADER_FROM)
    if (at === -1 || at > RAW_BYTES - HEADER.length - 12) continue
    const hash = hashFrom(track, at + HEADER.length + 4, isSwapped)
    return hash === HOMEBREW_BOOT && isSwapped ? hashHomebrew(disc.track(2)) : hash
  }
  return null
}

function hashHomebrew (track: Track | null): string | null {
  const { at, text } = HOMEBREW_MARK
  const mark = track?.read(track.firstSector, RAW_BYTES).toString('latin1', at, at + text.length)
  return track === null || mark !== text ? null : hashFrom(track, HOMEBREW_SIZE_AT, true)
}

/** Hashes a program. @param sizeAt the position of the program's size, which the program follows */
function hashFrom (track: Track, sizeAt: number, isSwapped: boolean): string | null {
  const digest = createHash('md5')
  let left: number | null = null
  for (let sector = track.firstSector; left === null || left > 0; sector++) {
    const bytes = Buffer.from(track.read(sector, RAW_BYTES))
    if (bytes.length < RAW_BYTES) return null
    if (isSwapped) bytes.swap16()
    const start: number = left === null ? sizeAt + 4 : 0
    left ??= Math.min(bytes.readUInt32BE(sizeAt), MAX_HASHED_BYTES)
    if (left === 0) return null
    const part = bytes.subarray(start, start + left)
    digest.update(part)
    left -= part.length
  }
  return digest.digest('hex')
}
