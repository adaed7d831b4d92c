// Rules by console: https://docs.retroachievements.org/developer-docs/game-identification.html

/** The part of a file that counts; the reference implementation stops there. */
export const MAX_HASHED_BYTES = 64 * 1024 ** 2

/**
 * The hashed data: the base name of the file; its bytes, for an archive those of the largest member; or sectors of a
 * disc image.
 */
export type Rule = 'name' | 'content' | 'disc'

export const PC_ENGINE = 8
export const SNES = 3
export const ARCADE = 27
export const WINDOWS = 102

/** Consoles whose hash is the MD5 of all bytes, at most the first 64 MiB. */
const WHOLE = new Set([1, 4, 5, 6, 10, 11, 14, 15, 17, 23, 24, 25, 28, 29, 33, 37, 38, 44, 45, 46, 47, 53, 57, 63, 69,
  72, 73, 74, 75, 80, WINDOWS])
/**
 * Consoles whose files have headers, byte orders or parts to tell apart. The GameCube counts as no disc system here.
 */
const CONTENT = new Set([2, SNES, 7, PC_ENGINE, 13, 16, 18, 51, 71, 78, 81])
const DISC = new Set([9, 12, 19, 21, 39, 40, 41, 43, 49, 56, 76, 77])

/** Returns the kind of rule of a console; null if there is none. */
export function ruleOf (console: number): Rule | null {
  if (console === ARCADE) return 'name'
  if (WHOLE.has(console) || CONTENT.has(console)) return 'content'
  return DISC.has(console) ? 'disc' : null
}

/** True if files may have parts that do not count, which only their bytes or size reveal. */
export const hasHeaders = (console: number): boolean => CONTENT.has(console)

/** True if the hash of every file of this size is the MD5 of its bytes. */
export function isWholeFile (console: number, size: number): boolean {
  if (size === 0 || size > MAX_HASHED_BYTES) return false
  if (console === SNES) return !hasCopierHeader(size)
  if (console === PC_ENGINE) return !hasPcEngineHeader(size)
  return WHOLE.has(console)
}

/**
 * True if a SNES ROM has a copier header: copiers put 512 bytes before the ROM, whose own size is a multiple of 8 KiB.
 */
export const hasCopierHeader = (size: number): boolean => size % 0x2000 === 512

/** True if a PC Engine ROM has a copier header: any odd number of half kilobytes counts. */
export const hasPcEngineHeader = (size: number): boolean => (size & 512) !== 0
