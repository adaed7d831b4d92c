import { extname } from 'node:path'
import { badRequest } from '../../core/errors.ts'
import { PathRefusedError, safeName } from '../../core/files/safe-path.ts'
import { BIDI_CONTROLS } from '../../core/files/bidi-controls.ts'
import { withoutDateTag } from './base-rows.ts'

const DISK_NAME_BYTES = 200
const NAME_BYTES = 255
const LABEL_MAX = 40
/** The platform folder in assets that never had a ROM. */
export const NO_PLATFORM = 'unassigned'

/** Returns the longest start of a text that fits into this many bytes without splitting a character. */
function cutBytes (text: string, bytes: number): string {
  let length = 0
  let cut = ''
  for (const character of text) {
    length += Buffer.byteLength(character)
    if (length > bytes) break
    cut += character
  }
  return cut
}

/**
 * Matches names that need cleaning. One test skips most names, because a replacement without a hit takes several times
 * as long.
 */
const UNCLEAN = new RegExp(`[*?"<>+\\0\\\\/:|${BIDI_CONTROLS}]`)
const REMOVED = new RegExp(`[*?"<>+\\0${BIDI_CONTROLS}]`, 'g')

function clean (name: string): string {
  const cleaned = UNCLEAN.test(name) ? name.replaceAll(REMOVED, '').replaceAll(/[\\/:|]/g, '-') : name
  return cleaned.trim()
}

function check (name: string, given: string): string {
  try {
    return safeName(name)
  } catch (err) {
    if (!(err instanceof PathRefusedError)) throw err
    throw badRequest(`The name ${JSON.stringify(given.slice(0, 300))} cannot be used (${err.message}); send another one`)
  }
}

/**
 * Returns the stored name of a client's file: the last part of a path, without characters that file systems of devices
 * refuse.
 *
 * @throws ApiError BAD_REQUEST if no usable name remains
 */
export function cleanFileName (given: string): string {
  return check(clean(given.slice(given.lastIndexOf('/') + 1)), given)
}

/**
 * Returns the name of an asset on a device: without its date tag, and with the plus signs of the ROM's name, because
 * emulators look for a save by the name of the ROM. Other removed characters stay removed: many devices refuse them.
 *
 * @param romStem the name of the ROM without its extension; may be null if it has no plus sign
 */
export function nameOnDevice (fileName: string, romStem: string | null): string {
  const name = withoutDateTag(fileName)
  if (romStem?.includes('+') !== true) return name
  const stored = clean(romStem)
  const isOfRom = name.startsWith(stored) && ['.', undefined].includes(name[stored.length])
  return isOfRom && romStem.replaceAll('+', '').trim() === stored ? romStem + name.slice(stored.length) : name
}

/** Returns one folder name of a path, from text of a client or of the library. @throws ApiError BAD_REQUEST */
export const cleanFolder = (given: string): string => check(clean(given), given)

/** Inserts text before the extension of a name, and cuts the stem to the byte limit. @throws ApiError BAD_REQUEST */
function withAddition (name: string, addition: string): string {
  const extension = extname(name)
  const end = addition + extension
  const stem = cutBytes(name.slice(0, name.length - extension.length), NAME_BYTES - Buffer.byteLength(end))
  return check(stem + end, name)
}

/** Returns `<stem> [YYYY-MM-DD_HH-MM-SS]<ext>`; an older date tag is replaced. */
export function withDateTag (fileName: string, at: Date): string {
  const [date, time = ''] = at.toISOString().slice(0, 19).split('T')
  return withAddition(withoutDateTag(fileName), ` [${date}_${time.replaceAll(':', '-')}]`)
}

/** Returns the name of a conflict copy, which stores the content of the other side. */
export function conflictName (fileName: string, at: Date, deviceLabel: string): string {
  const stamp = at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  const label = clean(deviceLabel).replaceAll(/[^\p{L}\p{N}_-]+/gu, '-').slice(0, LABEL_MAX).toWellFormed()
  return withAddition(withoutDateTag(fileName), `.conflict-${stamp}Z-${label}`)
}

/** Returns the name of a conflict copy that becomes an asset of its own. No other asset has it. */
export function ownName (fileName: string, label: string, taken: ReadonlySet<string>): string {
  const word = clean(label).replaceAll(/[()[\]]/g, '').trim().slice(0, LABEL_MAX).toWellFormed()
  for (let number = 1; ; number++) {
    const name = withAddition(withoutDateTag(fileName), ` (${number === 1 ? word : `${word} ${number}`})`)
    if (!taken.has(name)) return name
  }
}

/** Returns the name on disk, which is never used twice and is short enough for every file system. */
export const diskName = (random: string, fileName: string): string => `${random}-${cutBytes(fileName, DISK_NAME_BYTES)}`

/** Extensions of the pictures that a gallery accepts and browsers show. */
export const PICTURE_EXTENSIONS = new Set(['avif', 'bmp', 'gif', 'jpeg', 'jpg', 'png', 'tif', 'tiff', 'webp'])

export const isPicture = (fileName: string): boolean =>
  PICTURE_EXTENSIONS.has(fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase())
