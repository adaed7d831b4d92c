import { join } from 'node:path'
import { type DirectoryItem, LibraryUnreadableError, readLibraryDirectory, realLibraryDirectory } from '../library/directory.ts'
import type { ExclusionRules } from '../library/exclusions.ts'
import { type Lstat, lstat } from './lstat.ts'
import { isInside, safeRelativePath } from '../../core/files/safe-path.ts'
import {
  type DiskPath, type EntryFile, type EntryProblem, type Walk,
  mapInBatches, readAhead, readFile, readFolder, resolveItem
} from './walk.ts'

export type { EntryFile, EntryProblem } from './walk.ts'

/** A file or folder directly in a platform's ROM folder. */
export interface Entry {
  fs_name: string
  kind: 'file' | 'folder'
  /** A folder's own files first, then those of its subfolders, in the order of the bytes of their names. */
  files: EntryFile[]
  /** Skipped parts of this entry. If there are any, a file that is missing here may still be on disk. */
  problems: EntryProblem[]
}

export interface EntryListing {
  /**
   * The first step throws a LibraryUnreadableError if the platform's folder does not exist or cannot be read, and a
   * PathRefusedError if its name leaves the library. Any step throws the signal's reason once the signal is aborted.
   */
  entries: AsyncGenerator<Entry, void, undefined>
  /** Grows while the entries are read: their problems, and those of entries that could not be read at all. */
  problems: EntryProblem[]
}

export interface ListOptions {
  libraryDir: string
  /** The platform's ROM folder, relative to the library. */
  folder: string
  rules: ExclusionRules
  /** The content of the folder, if it was read just now. */
  items?: readonly DirectoryItem[]
  /** Other libraries that symbolic links may lead into. */
  otherRoots?: readonly string[]
  signal?: AbortSignal
  /** Reads the facts of each file; by default one by one. */
  lstat?: Lstat
}

interface Platform extends DiskPath, Pick<Walk, 'roots' | 'platformRoot' | 'rules' | 'signal' | 'lstat'> {}

const CONCURRENT_ENTRIES = 256

/**
 * Lists the entries of one platform, in the order of the bytes of their names. Reads lazily, a few batches ahead. A
 * symbolic link counts as its target if that is in a library, or in the target of the platform's folder.
 */
export function listEntries (options: ListOptions): EntryListing {
  const problems: EntryProblem[] = []
  return { problems, entries: readEntries(options, problems) }
}

async function * readEntries (options: ListOptions, problems: EntryProblem[]): AsyncGenerator<Entry, void, undefined> {
  const platform = await openPlatform(options)
  const items = options.items ?? await readLibraryDirectory(join(options.libraryDir, platform.path))
  const reads = mapInBatches(items, CONCURRENT_ENTRIES, (item) => readEntry(platform, item), options.signal)
  for await (const entries of readAhead(reads)) {
    for (const entry of entries) {
      for (const problem of entry.problems) problems.push(problem)
      if (entry.files.length > 0) yield entry
      options.signal?.throwIfAborted()
    }
  }
}

async function openPlatform (
  { libraryDir, folder, rules, signal, lstat: lstatItem = lstat, otherRoots = [] }: ListOptions
): Promise<Platform> {
  signal?.throwIfAborted()
  const path = safeRelativePath(folder)
  const libraryRoot = await realLibraryDirectory(libraryDir)
  const real = await realLibraryDirectory(join(libraryDir, path))
  if (isInside(real, libraryRoot)) {
    throw new LibraryUnreadableError(join(libraryDir, path), 'it is a link to the library itself or to a folder above it',
      'Change the link to a folder that contains only this platform')
  }
  const others = await Promise.all(otherRoots.map(realLibraryDirectory))
  return { real, path, roots: [libraryRoot, real, ...others], platformRoot: real, rules, signal, lstat: lstatItem }
}

/**
 * Reads one entry. An entry without files is skipped: its problems tell whether it is excluded, unreadable or empty.
 */
async function readEntry (platform: Platform, item: DirectoryItem): Promise<Entry> {
  const entry: Entry = { fs_name: item.name, kind: 'file', files: [], problems: [] }
  const walk: Walk = { ...platform, fsName: item.name, problems: entry.problems, visited: new Set() }
  const found = isExcluded(platform.rules, item) ? null : await resolveItem(walk, platform, item)
  if (found?.kind === 'file') {
    const file = await readFile(walk, found, platform.path, [])
    if (file !== null) entry.files.push(file)
  } else if (found !== null) {
    entry.kind = 'folder'
    await readFolder(walk, { ...found, below: [] }, entry.files)
    if (entry.files.length === 0 && entry.problems.length === 0) {
      const reason = 'empty folder: no file in it belongs to a game'
      entry.problems.push({ fs_name: item.name, path: found.path, reason, is_empty: true })
    }
  }
  entry.problems.sort((a, b) => a.path < b.path ? -1 : 1)
  return entry
}

/**
 * True if an item is excluded. A link is checked as file and as folder before it is followed, because media folders
 * often are on another disk.
 */
export function isExcluded (rules: ExclusionRules, { name, kind }: DirectoryItem): boolean {
  return (kind !== 'folder' && rules.isExcludedSingle(name)) || (kind !== 'file' && rules.isExcludedMulti(name))
}
