import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { errorCode } from '../../core/files/fs-error.ts'

/** A skipped path of the library, with the reason in words for a person. */
export interface Problem {
  /** Path relative to the library, with forward slashes. Bytes that are not valid UTF-8 appear as `\xNN`. */
  path: string
  reason: string
}

/** One name in a folder. A name that is not valid UTF-8 is replaced by a printable form. */
export interface DirectoryItem {
  name: string
  kind: 'file' | 'folder' | 'link' | 'other'
  isValid: boolean
}

/**
 * The library, or a whole platform of it, cannot be read. The caller must not mark files as missing because of this
 * error.
 */
export class LibraryUnreadableError extends Error {
  override readonly name = 'LibraryUnreadableError'
  readonly path: string

  constructor (path: string, reason: string, remedy: string, options?: ErrorOptions) {
    super(`Cannot read the library folder ${JSON.stringify(path)}: ${reason}. ${remedy}`, options)
    this.path = path
  }
}

export const INVALID_NAME_REASON = 'the name is not valid UTF-8; rename it'

/** If no name in a folder contains one of these, all names are valid and JavaScript sorts them by their bytes. */
const UNUSUAL = /[\ud800-\udfff\ufffd]/

/** Reads the names in a folder in the order of their bytes, which is PostgreSQL's order under the collation "C". */
export async function readDirectory (path: string): Promise<DirectoryItem[]> {
  const dirents = await readdir(path, { withFileTypes: true })
  if (dirents.some(({ name }) => UNUSUAL.test(name))) return await readUnusual(path)
  return dirents.map((dirent) => ({ name: dirent.name, kind: kindOf(dirent), isValid: true }))
    .sort((a, b) => a.name < b.name ? -1 : 1)
}

async function readUnusual (path: string): Promise<DirectoryItem[]> {
  const dirents = await readdir(path, { withFileTypes: true, encoding: 'buffer' })
  return dirents
    .map((dirent) => ({ dirent, bytes: dirent.name.toString('latin1') }))
    .sort((a, b) => a.bytes < b.bytes ? -1 : 1)
    .map(({ dirent, bytes }) => toItem(dirent, bytes))
}

/**
 * Reads a folder like {@link readDirectory}, but fails if it is not readable.
 *
 * @throws {LibraryUnreadableError}
 */
export async function readLibraryDirectory (path: string): Promise<DirectoryItem[]> {
  try {
    return await readDirectory(path)
  } catch (err) {
    throw unreadable(path, err)
  }
}

/**
 * Returns the path of an existing folder without symbolic links.
 *
 * @throws {LibraryUnreadableError}
 */
export async function realLibraryDirectory (path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (err) {
    throw unreadable(path, err)
  }
}

/**
 * True if the path is a folder, or a link to one.
 *
 * @throws {LibraryUnreadableError} if this cannot be determined
 */
export async function isFolder (path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (err) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(err))) return false
    throw unreadable(path, err)
  }
}

/** What tells one folder, and one state of it, from another. */
export interface FolderFacts {
  /** Differs if another folder replaces this one, such as a mount point without its disk. */
  inode: string
  /** Differs for another folder, and after an entry was added, deleted or renamed. */
  state: string
}

/** @throws {LibraryUnreadableError} */
export async function readFolderFacts (path: string): Promise<FolderFacts> {
  try {
    const { ino, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return { inode: String(ino), state: `${ino} ${mtimeNs} ${ctimeNs}` }
  } catch (err) {
    throw unreadable(path, err)
  }
}

/** Returns the inode of a folder. @throws {LibraryUnreadableError} */
export const folderInode = async (path: string): Promise<string> => (await readFolderFacts(path)).inode

/** Returns {@link reasonOf}, with a remedy if a person can apply one. */
export function adviceOf (err: unknown): string {
  const isRefused = ['EACCES', 'EPERM'].includes(errorCode(err))
  return isRefused ? `${reasonOf(err)}; give the server's user that permission` : reasonOf(err)
}

/** Describes an error of the file system in words. */
export function reasonOf (err: unknown): string {
  switch (errorCode(err)) {
    case 'EACCES':
    case 'EPERM': return 'no permission to read it'
    case 'ENOENT': return 'it does not exist'
    case 'ENOTDIR': return 'it is not a folder'
    case 'ELOOP': return 'its symbolic links form a circle'
    case 'ENAMETOOLONG': return 'the path is too long for the system'
    default: return `it cannot be read (${err instanceof Error ? err.message : String(err)})`
  }
}

function unreadable (path: string, cause: unknown): LibraryUnreadableError {
  return new LibraryUnreadableError(path, reasonOf(cause), remedyOf(cause), { cause })
}

function remedyOf (err: unknown): string {
  switch (errorCode(err)) {
    case 'EACCES':
    case 'EPERM': return "Give the server's user permission to read and enter it"
    case 'ENOENT':
    case 'ENOTDIR': return 'Create the folder, mount its disk, or correct SVC_LIBRARY_DIR (library_dir, or libraries, in config.yml)'
    default: return 'Check its disk or network share, then scan again'
  }
}

function toItem (dirent: Dirent<Buffer>, bytes: string): DirectoryItem {
  const isValid = isUtf8(dirent.name)
  return { name: isValid ? dirent.name.toString() : escapeBytes(bytes), kind: kindOf(dirent), isValid }
}

function kindOf (dirent: Dirent<Buffer> | Dirent): DirectoryItem['kind'] {
  if (dirent.isFile()) return 'file'
  if (dirent.isDirectory()) return 'folder'
  return dirent.isSymbolicLink() ? 'link' : 'other'
}

function escapeBytes (bytes: string): string {
  return bytes.replace(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
