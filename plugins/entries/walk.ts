import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type RomFileCategory, categoryOf } from './categories.ts'
import { type DirectoryItem, type Problem, INVALID_NAME_REASON, adviceOf, readDirectory } from '../library/directory.ts'
import type { ExclusionRules } from '../library/exclusions.ts'
import type { Lstat } from './lstat.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { isInside } from '../../core/files/safe-path.ts'

/** A file of a ROM. */
export interface EntryFile {
  file_name: string
  /** The folder, relative to the library, with forward slashes. */
  file_path: string
  /** The real path of the file, without symbolic links. */
  absolute_path: string
  file_size_bytes: number
  /** Milliseconds since 1970. */
  mtime: number
  /** Decimal; text because some file systems use all 64 bits. */
  inode: string
  is_top_level: boolean
  category: RomFileCategory | null
}

export interface EntryProblem extends Problem {
  /** The entry that the problem belongs to; in printable form if its name is not valid UTF-8. */
  fs_name: string
  /** True if the entry is a folder that was read and has no file of a game. */
  is_empty?: true
}

/** A path on disk: without symbolic links, and relative to the library. */
export interface DiskPath {
  real: string
  path: string
}

/** A file or folder that may be read, with links resolved. */
export interface DiskEntry extends DiskPath {
  name: string
  kind: 'file' | 'folder'
  isLink: boolean
}

/** A folder of an entry, with the names of the folders between the entry's own folder and this one. */
export interface Folder extends DiskEntry {
  below: readonly string[]
}

/** The state of the walk through one entry. */
export interface Walk {
  fsName: string
  /** Real paths that links may lead into. */
  roots: readonly string[]
  platformRoot: string
  rules: ExclusionRules
  signal: AbortSignal | undefined
  lstat: Lstat
  problems: EntryProblem[]
  /** Real paths of all folders read so far. Links to them are skipped, because they would grow the tree without end. */
  visited: Set<string>
}

/** Maximum depth of folders inside an entry. */
export const MAX_DEPTH = 32
const CONCURRENT_FILES = 64

/** Resolves a name in a folder; null if it may not or cannot be read, or is neither file nor folder. */
export async function resolveItem (walk: Walk, parent: DiskPath, item: DirectoryItem): Promise<DiskEntry | null> {
  const path = `${parent.path}/${item.name}`
  if (!item.isValid) return report(walk, path, INVALID_NAME_REASON)
  if (item.kind === 'other') return null
  const real = join(parent.real, item.name)
  if (item.kind !== 'link') return { name: item.name, kind: item.kind, path, real, isLink: false }
  return await followLink(walk, parent, { name: item.name, path, real })
}

/** Reads a file; null if it cannot be read. `below` as in {@link Folder}. */
export async function readFile (
  walk: Walk, found: DiskEntry, folderPath: string, below: readonly string[]
): Promise<EntryFile | null> {
  try {
    const { kind, size, mtime, inode } = await walk.lstat(found.real)
    if (kind !== 'file') return null
    return {
      file_name: found.name,
      file_path: folderPath,
      absolute_path: found.real,
      file_size_bytes: size,
      mtime,
      inode,
      is_top_level: below.length === 0,
      category: categoryOf(below)
    }
  } catch (err) {
    return reportError(walk, found.path, err)
  }
}

/** Adds the files of a folder and, after them, those of its subfolders. */
export async function readFolder (walk: Walk, folder: Folder, files: EntryFile[]): Promise<void> {
  walk.signal?.throwIfAborted()
  if (folder.below.length > MAX_DEPTH) {
    report(walk, folder.path, `more than ${MAX_DEPTH} folders deep; move it to a higher folder`)
    return
  }
  if (folder.isLink && walk.visited.has(folder.real)) {
    report(walk, folder.path, 'the symbolic link leads to a folder that is already listed')
    return
  }
  walk.visited.add(folder.real)
  const folders: DiskEntry[] = []
  const items = await readItems(walk, folder)
  const parts = mapInBatches(items, CONCURRENT_FILES, (item) => readPart(walk, folder, item), walk.signal)
  for await (const batch of parts) {
    for (const { file, inner } of batch) {
      if (file !== null) files.push(file)
      if (inner !== null) folders.push(inner)
    }
  }
  for (const inner of folders) await readFolder(walk, { ...inner, below: [...folder.below, inner.name] }, files)
}

/** Yields the results in the order of the values, in concurrent batches of `size`. */
export async function * mapInBatches<Value, Result> (
  values: readonly Value[], size: number, map: (value: Value) => Promise<Result>, signal?: AbortSignal
): AsyncGenerator<Result[], void, undefined> {
  for (let start = 0; start < values.length; start += size) {
    signal?.throwIfAborted()
    yield await Promise.all(values.slice(start, start + size).map(map))
  }
}

/** Yields the same items, but requests each item while the caller works on the one before. */
export async function * readAhead<T> (items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = items.next()
  try {
    for (;;) {
      const result = await next
      if (result.done === true) return
      next = items.next()
      next.catch(() => { /* thrown by the await of the next iteration */ })
      yield result.value
    }
  } finally {
    await items.return(undefined)
  }
}

async function readItems (walk: Walk, folder: Folder): Promise<DirectoryItem[]> {
  try {
    return await readDirectory(folder.real)
  } catch (err) {
    reportError(walk, folder.path, err)
    return []
  }
}

async function readPart (
  walk: Walk, folder: Folder, item: DirectoryItem
): Promise<{ file: EntryFile | null, inner: DiskEntry | null }> {
  const found = isPartExcluded(walk.rules, item) ? null : await resolveItem(walk, folder, item)
  if (found?.kind === 'folder') return { file: null, inner: found }
  return { file: found === null ? null : await readFile(walk, found, folder.path, folder.below), inner: null }
}

export function isPartExcluded (rules: ExclusionRules, { name, kind }: DirectoryItem): boolean {
  return (kind !== 'folder' && rules.isExcludedPart(name)) || (kind !== 'file' && rules.isExcludedPartFolder(name))
}

async function followLink (
  walk: Walk, parent: DiskPath, link: { name: string, path: string, real: string }
): Promise<DiskEntry | null> {
  try {
    const real = await realpath(link.real)
    if (!walk.roots.some((root) => isInside(root, real))) {
      return report(walk, link.path, 'the symbolic link leads out of the library')
    }
    const { kind } = await walk.lstat(real)
    if (kind === 'file') return { ...link, real, kind, isLink: true }
    if (kind !== 'folder') return null
    if (isInside(real, parent.real) || isInside(real, walk.platformRoot)) {
      return report(walk, link.path, 'the symbolic link leads back to a folder above itself')
    }
    return { ...link, real, kind, isLink: true }
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return report(walk, link.path, 'the symbolic link leads to nothing')
    return reportError(walk, link.path, err)
  }
}

function report (walk: Walk, path: string, reason: string): null {
  walk.problems.push({ fs_name: walk.fsName, path, reason })
  return null
}

function reportError (walk: Walk, path: string, err: unknown): null {
  return report(walk, path, errorCode(err) === 'ENOENT' ? 'it was deleted while the folder was read' : adviceOf(err))
}
