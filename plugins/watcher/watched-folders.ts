import { type Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type DirectoryItem, readDirectory } from '../library/directory.ts'
import { isExcluded } from '../library/entries.ts'
import type { ExclusionRules } from '../library/exclusions.ts'
import { lstat as readFacts } from '../library/lstat.ts'
import { isNotFoundError } from '../../core/files/fs-error.ts'
import type { OpenWatch, WatchHandle } from './open-watch.ts'
import type { SerialQueue } from './serial-queue.ts'
import { type Folder, type DiskEntry, MAX_DEPTH, isPartLeftOut, resolveItem } from '../library/walk.ts'

/** A folder whose names are ROMs, parts of a ROM, or firmware. */
export interface WatchedFolder extends Folder {
  fsSlug: string
  content: 'roms' | 'parts' | 'firmware'
  /** Real paths into which links may lead: the library and the platform's own folder. */
  roots: readonly [library: string, platform: string]
}

export interface WatchedFoldersOptions {
  readRules (): ExclusionRules
  open: OpenWatch
  steps: SerialQueue
  /** Called when an entry that a scan reads appeared or vanished. */
  onChange (fsSlug: string): void
  /** Called on a write, perhaps to a file that is still being copied. */
  onWrite (fsSlug: string): void
}

interface WatchEntry {
  folder: WatchedFolder
  handle: WatchHandle | null
  refusal: unknown
  /** The paths of its subfolders. */
  subfolders: Set<string>
}

/** The names of files that are being downloaded or copied. */
const TEMPORARY = /\.part$/i

/** Creates the watches of all folders below the platform folders, as deep as a scan reads. */
export function createWatchedFolders ({ readRules, open, steps, onChange, onWrite }: WatchedFoldersOptions) {
  /** Watched folders by path relative to the library. */
  const watched = new Map<string, WatchEntry>()
  /** Platforms and real paths that a further link must not lead to. */
  const linkedPaths = new Set<string>()

  function isIgnored ({ content }: WatchedFolder, item: DirectoryItem): boolean {
    if (item.kind === 'other' || (item.kind !== 'folder' && TEMPORARY.test(item.name))) return true
    if (content === 'parts') return isPartLeftOut(readRules(), item)
    if (content === 'roms') return isExcluded(readRules(), item)
    return item.kind === 'folder' || readRules().isExcludedSingle(item.name)
  }

  function listen (folder: WatchedFolder, event: 'rename' | 'change', name: string | null): void {
    if (name === null) onChange(folder.fsSlug)
    else if (event === 'rename') steps.add(`${folder.path}/${name}`, () => check(folder, name))
    else if (!isIgnored(folder, unknownItem(name))) onWrite(folder.fsSlug)
  }

  /**
   * Checks what happened to a name. Opens the watch of a folder again, because the name may belong to another folder
   * now.
   */
  async function check (folder: WatchedFolder, name: string): Promise<void> {
    if (!watched.has(folder.path)) return
    const wasWatched = remove(`${folder.path}/${name}`)
    const item = await readItem(join(folder.real, name), name)
    if (!isIgnored(folder, item ?? unknownItem(name))) {
      const subfolders = item === null ? null : await resolveFolder(folder, item)
      if (subfolders !== null) await add([subfolders])
      onChange(folder.fsSlug)
    } else if (wasWatched) {
      onChange(folder.fsSlug)
    }
  }

  /** Returns the folder that an item is or links to; null if a scan does not read it. */
  async function resolveFolder (folder: WatchedFolder, item: DirectoryItem): Promise<WatchedFolder | null> {
    if (folder.content === 'firmware' || (item.kind !== 'folder' && item.kind !== 'link')) return null
    const [, platformRoot] = folder.roots
    const found: DiskEntry | null = await resolveItem({
      fsName: item.name,
      roots: folder.roots,
      platformRoot,
      rules: readRules(),
      signal: undefined,
      lstat: readFacts,
      problems: [],
      visited: new Set()
    }, folder, item)
    if (found?.kind !== 'folder') return null
    const below = folder.content === 'roms' ? [] : [...folder.below, item.name]
    return { ...found, below, content: 'parts', fsSlug: folder.fsSlug, roots: folder.roots }
  }

  async function listInner (folder: WatchedFolder): Promise<WatchedFolder[]> {
    if (folder.content === 'firmware') return []
    const subfolders: WatchedFolder[] = []
    for (const item of await readDirectory(folder.real)) {
      const resolved = isIgnored(folder, item) ? null : await resolveFolder(folder, item)
      if (resolved !== null) subfolders.push(resolved)
    }
    return subfolders
  }

  /**
   * True if a folder is already watched. A link to a watched folder of the same platform adds nothing, and may form a
   * loop.
   */
  const isKnown = (folder: WatchedFolder) =>
    watched.has(folder.path) || (folder.isLink && linkedPaths.has(linkKeyOf(folder)))

  function enlist (folder: WatchedFolder, handle: WatchHandle | null, refusal: unknown): void {
    watched.set(folder.path, { folder, handle, refusal, subfolders: new Set() })
    watched.get(dirname(folder.path))?.subfolders.add(folder.path)
    linkedPaths.add(linkKeyOf(folder))
  }

  function fail ({ path }: WatchedFolder, err: unknown): void {
    const entry = watched.get(path)
    entry?.handle?.close()
    if (entry !== undefined) Object.assign(entry, { handle: null, refusal: err })
  }

  /** Watches one folder. @returns its subfolders */
  async function addOne (folder: WatchedFolder): Promise<WatchedFolder[]> {
    if (!steps.isOpen() || folder.below.length > MAX_DEPTH || isKnown(folder)) return []
    try {
      const handle = open(folder.real, (event, name) => { listen(folder, event, name) }, (err) => { fail(folder, err) })
      enlist(folder, handle, null)
      // List only after the watch is open: entries that appear meanwhile are then either listed or reported by the
      // watch.
      return await listInner(folder)
    } catch (err) {
      // The folder is gone again, which the watch of its parent folder reports.
      if (!isNotFoundError(err) && !watched.has(folder.path)) enlist(folder, null, err)
      return []
    }
  }

  /** Adds folders level by level. At the system's limit of watches, only the deepest folders are not watched. */
  async function add (folders: readonly WatchedFolder[]): Promise<void> {
    let level = [...folders]
    while (level.length > 0) {
      const next: WatchedFolder[] = []
      for (const folder of level) next.push(...await addOne(folder))
      level = next
    }
  }

  function removeAll (path: string): void {
    const entry = watched.get(path)
    if (entry === undefined) return
    entry.handle?.close()
    watched.delete(path)
    linkedPaths.delete(linkKeyOf(entry.folder))
    for (const subfolders of entry.subfolders) removeAll(subfolders)
  }

  /** Stops watching a folder. @returns true if the folder was watched */
  function remove (path: string): boolean {
    const isWatched = watched.has(path)
    removeAll(path)
    watched.get(dirname(path))?.subfolders.delete(path)
    return isWatched
  }

  return {
    add,
    remove,

    /** Tries refused folders again, and reports a change for them, because changes there had no event. */
    async retry (): Promise<void> {
      for (const { folder, handle } of [...watched.values()]) {
        if (handle !== null) continue
        remove(folder.path)
        await add([folder])
        if (watched.get(folder.path)?.handle !== null) onChange(folder.fsSlug)
      }
    },

    /** Returns the errors of refused watches. */
    refusals: () => [...watched.values()].filter(({ handle }) => handle === null).map(({ refusal }) => refusal),

    size: () => watched.size,

    close (): void {
      for (const { handle } of watched.values()) handle?.close()
      watched.clear()
      linkedPaths.clear()
    }
  }
}

const linkKeyOf = ({ fsSlug, real }: WatchedFolder) => `${fsSlug}/${real}`

/** Returns an item of unknown kind. A vanished entry may have been a file, a folder or a link. */
const unknownItem = (name: string): DirectoryItem => ({ name, kind: 'link', isValid: true })

async function readItem (path: string, name: string): Promise<DirectoryItem | null> {
  try {
    return { name, kind: kindOf(await lstat(path)), isValid: true }
  } catch (err) {
    if (isNotFoundError(err)) return null
    return unknownItem(name)
  }
}

function kindOf (stats: Stats): DirectoryItem['kind'] {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  return stats.isSymbolicLink() ? 'link' : 'other'
}
