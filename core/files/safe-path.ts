import { constants, type BigIntStats } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { BIDI_CONTROLS } from './bidi-controls.ts'
import { errorCode, ifPresent } from './fs-error.ts'

/** A name or path from outside that must not be used; the message quotes it. */
export class PathRefusedError extends Error {
  override readonly name = 'PathRefusedError'
  readonly value: string

  constructor (value: string, reason: string, options?: ErrorOptions) {
    super(`The path ${quote(value)} is refused: ${reason}`, options)
    this.value = value
  }
}

// The limit of a name on ext4, XFS, btrfs, ZFS and APFS.
const MAX_NAME_BYTES = 255
const CONTROL_CHARACTERS = /[\0-\x1f\x7f-\x9f]/ // eslint-disable-line no-control-regex
const DIRECTION_MARKS = new RegExp(`[${BIDI_CONTROLS}]`)
const DRIVE_LETTER = /^[a-z]:/i
const DRIVE_PATH = /^[a-z]:[\\/]/i

/**
 * Returns a file name from a client if it is safe to use in a folder. Nothing is repaired: a bad name is refused.
 *
 * @throws {PathRefusedError}
 */
export function safeName (name: string): string {
  const reason = explainRefusedName(name)
  if (reason !== null) throw new PathRefusedError(name, reason)
  return name
}

/**
 * Returns a relative path from stored data or a client, with forward slashes and without empty parts and `.`.
 * Characters that a name on disk may contain, such as a line feed, stay allowed.
 *
 * @throws {PathRefusedError}
 */
export function safeRelativePath (path: string): string {
  const reason = explainRefusedPath(path)
  if (reason !== null) throw new PathRefusedError(path, reason)
  const separator = sep === '\\' ? /[\\/]/ : '/'
  return path.split(separator).filter((part) => part !== '' && part !== '.').join('/')
}

/**
 * Returns the absolute path, free of symbolic links, of an entry inside a folder; the last parts need not exist yet.
 *
 * @throws {PathRefusedError} if the path is outside the folder, directly or through a symbolic link
 */
export const resolveInside = async (base: string, relativePath: string): Promise<string> =>
  await resolveBelow(await realpath(base), relativePath)

/** Runs work on a path that is relative to a folder, with the folder that links on the path must not leave. */
export type WithinFolder = <T>(path: string, work: (base: string, path: string) => Promise<T>) => Promise<T>

/** @param root absolute, without symbolic links */
async function resolveBelow (root: string, relativePath: string): Promise<string> {
  const target = resolve(root, safeRelativePath(relativePath))
  if (!isInside(root, target)) throw new PathRefusedError(relativePath, 'it is outside its folder')
  const real = await resolveExisting(target, relativePath)
  if (!isInside(root, real)) throw new PathRefusedError(relativePath, 'a symbolic link leads out of its folder')
  return real
}

/**
 * Opens a regular file inside a folder for reading; the caller closes the handle. The open file is checked again, so
 * that a link swapped in meanwhile gains nothing.
 *
 * @throws {PathRefusedError} if it is outside the folder or is no regular file
 * @throws the error of the file system if it is missing or unreadable
 */
export async function openInside (base: string, relativePath: string): Promise<FileHandle> {
  const root = await realpath(base)
  const path = await resolveBelow(root, relativePath)
  // Without O_NONBLOCK, opening a named pipe would wait for someone to write to it.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const stats = await handle.stat({ bigint: true })
    if (!stats.isFile()) throw new PathRefusedError(relativePath, 'it is not a regular file')
    const openedInside = await isDescriptorInside(root, handle.fd) ?? await isWalkedTo(root, path, stats)
    if (!openedInside) throw new PathRefusedError(relativePath, 'it was moved out of its folder while it was opened')
    return handle
  } catch (err) {
    await handle.close()
    throw err
  }
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG'])

/** True if opening failed because there is nothing that may be opened, not because of a disk failure. */
export const isNothingThere = (err: unknown): boolean => err instanceof PathRefusedError || ABSENT.has(errorCode(err))

/** True if a path is a folder or lies in it; both absolute and without symbolic links. */
export function isInside (folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/**
 * True if the path from a folder to a file contains no symbolic link and ends at exactly that file. Used on systems
 * that do not report the path of an open file.
 */
export async function isWalkedTo (root: string, path: string, opened: BigIntStats): Promise<boolean> {
  const parts = relative(root, path).split(sep)
  let at = root
  for (const part of parts) {
    at = join(at, part)
    if ((await lstat(at)).isSymbolicLink()) return false
  }
  const found = await lstat(path, { bigint: true })
  return found.ino === opened.ino && found.dev === opened.dev
}

/** Returns null if there is no /proc. */
async function isDescriptorInside (root: string, descriptor: number): Promise<boolean | null> {
  if (process.platform !== 'linux') return null
  try {
    return isInside(root, await readlink(`/proc/self/fd/${descriptor}`))
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return null
    throw err
  }
}

async function resolveExisting (target: string, value: string): Promise<string> {
  try {
    return await realpath(target)
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return await resolveMissing(target, value)
    if (!['ELOOP', 'ENAMETOOLONG', 'ENOTDIR'].includes(errorCode(err))) throw err
    throw new PathRefusedError(value, 'no such file can exist', { cause: err })
  }
}

/**
 * Resolves a missing path. A dangling link counts as present, because writing to it would create a file at its target.
 */
async function resolveMissing (target: string, value: string): Promise<string> {
  const found = await ifPresent(lstat(target))
  if (found === null) return join(await resolveExisting(dirname(target), value), basename(target))
  if (found.isSymbolicLink()) throw new PathRefusedError(value, 'it is a symbolic link without a target')
  // It was created meanwhile, such as by another upload to a new folder.
  return await resolveExisting(target, value)
}

/** True if an entry with this path exists, even a dangling link. */
export async function isPresent (path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return false
    throw err
  }
}

/** Returns why {@link safeRelativePath} refuses a path; null if it accepts the path. */
export function explainRefusedPath (path: string): string | null {
  if (path.includes('\0')) return 'it holds a NUL character'
  if (/^[\\/]/.test(path) || DRIVE_PATH.test(path)) return 'it is not relative'
  return path.split(/[\\/]/).includes('..') ? 'it leaves its folder through ".."' : null
}

function explainRefusedName (name: string): string | null {
  if (name === '') return 'it is empty'
  if (name === '.' || name === '..') return 'it names a folder, not a file'
  if (CONTROL_CHARACTERS.test(name)) return 'it holds a control character'
  if (DIRECTION_MARKS.test(name)) return 'it holds a character that changes the direction of text, which makes the name look like another one'
  if (/[\\/]/.test(name)) return 'it holds a slash or a backslash; send the name alone'
  if (DRIVE_LETTER.test(name)) return 'it starts with a drive letter'
  if (!name.isWellFormed()) return 'it is not valid Unicode'
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `it is longer than ${MAX_NAME_BYTES} bytes`
  return null
}

function quote (value: string): string {
  return JSON.stringify(value.length > 300 ? `${value.slice(0, 300)}…` : value)
}
