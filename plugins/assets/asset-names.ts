import { extname } from 'node:path'
import { badRequest } from '../../core/errors.ts'
import { PathRefusedError, safeName } from '../../core/files/safe-path.ts'
import { BIDI_CONTROLS } from '../../core/typebox.ts'
import { untagged } from './base-rows.ts'

const DISK_NAME_BYTES = 200
const NAME_BYTES = 255
const LABEL_MAX = 40

/** Whole characters of a text, as many as fit into so many bytes. */
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

/** Told apart from most names by one look: a replacement that finds nothing takes several times as long. */
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
 * The name under which a client's file is kept: the last part of a path, without what file systems of devices refuse.
 *
 * @throws ApiError BAD_REQUEST when nothing usable is left of it
 */
export function cleanFileName (given: string): string {
  return check(clean(given.slice(given.lastIndexOf('/') + 1)), given)
}

/** One folder of a path, of text that a client or the library gave. @throws ApiError BAD_REQUEST */
export const cleanFolder = (given: string): string => check(clean(given), given)

/** A name with something added before its extension, its stem as long as there is room. @throws ApiError BAD_REQUEST */
function withAddition (name: string, addition: string): string {
  const extension = extname(name)
  const end = addition + extension
  const stem = cutBytes(name.slice(0, name.length - extension.length), NAME_BYTES - Buffer.byteLength(end))
  return check(stem + end, name)
}

/** `<stem> [YYYY-MM-DD_HH-MM-SS]<ext>` in place of an older date. */
export function withDateTag (fileName: string, at: Date): string {
  const [date, time = ''] = at.toISOString().slice(0, 19).split('T')
  return withAddition(untagged(fileName), ` [${date}_${time.replaceAll(':', '-')}]`)
}

/** The name of a file that keeps the other side of a conflict. */
export function conflictName (fileName: string, at: Date, deviceLabel: string): string {
  const stamp = at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  const label = clean(deviceLabel).replaceAll(/[^\p{L}\p{N}_-]+/gu, '-').slice(0, LABEL_MAX).toWellFormed()
  return withAddition(untagged(fileName), `.conflict-${stamp}Z-${label}`)
}

/** The name on disk: never used twice, and short enough for every file system. */
export const diskName = (random: string, fileName: string): string => `${random}-${cutBytes(fileName, DISK_NAME_BYTES)}`
