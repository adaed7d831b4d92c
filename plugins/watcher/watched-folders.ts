import { type Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type DirectoryItem, readDirectory } from '../library/directory.ts'
import { isExcluded } from '../entries/entries.ts'
import type { ExclusionRules } from '../library/exclusions.ts'
import { lstat as readFacts } from '../entries/lstat.ts'
import { isNotFoundError } from '../../core/files/fs-error.ts'
import type { OpenWatch, WatchHandle } from './open-watch.ts'
import type { SerialQueue } from './serial-queue.ts'
import { type Folder, type DiskEntry, MAX_DEPTH, isPartExcluded, resolveItem } from '../entries/walk.ts'

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

function isIgnored (rules: ExclusionRules, { content }: WatchedFolder, item: DirectoryItem): boolean {
  if (item.kind === 'other' || (item.kind !== 'folder' && TEMPORARY.test(item.name))) return true
  if (content === 'parts') return isPartExcluded(rules, item)
  if (content === 'roms') return isExcluded(rules, item)
  return item.kind === 'folder' || rules.isExcludedSingle(item.name)
}

/** Returns the folder that an item is or links to; null if a scan does not read it. */
async function resolveFolder (
  rules: ExclusionRules, folder: WatchedFolder, item: DirectoryItem
): Promise<WatchedFolder | null> {
  if (folder.content === 'firmware' || (item.kind !== 'folder' && item.kind !== 'link')) return null
  const [, platformRoot] = folder.roots
  const found: DiskEntry | null = await resolveItem({
    fsName: item.name,
    roots: folder.roots,
    platformRoot,
    rules,
    signal: undefined,
    lstat: readFacts,
    problems: [],
    visited: new Set()
  }, folder, item)
  if (found?.kind !== 'folder') return null
  const below = folder.content === 'roms' ? [] : [...folder.below, item.name]
  return { ...found, below, content: 'parts', fsSlug: folder.fsSlug, roots: folder.roots }
}

/** The watches of all folders below the platform folders, as deep as a scan reads. */
export class WatchedFolders {
  readonly #options: WatchedFoldersOptions
  /** Watched folders by path relative to the library. */
  readonly #watched = new Map<string, WatchEntry>()
  /** Platforms and real paths that a further link must not lead to. */
  readonly #linkedPaths = new Set<string>()

  constructor (options: WatchedFoldersOptions) {
    this.#options = options
  }

  /** Adds folders level by level. At the system's limit of watches, only the deepest folders are not watched. */
  async add (folders: readonly WatchedFolder[]): Promise<void> {
    let level = [...folders]
    while (level.length > 0) {
      const next: WatchedFolder[] = []
      for (const folder of level) next.push(...await this.#addOne(folder))
      level = next
    }
  }

  /** Stops watching a folder. @returns true if the folder was watched */
  remove (path: string): boolean {
    const isWatched = this.#watched.has(path)
    this.#removeAll(path)
    this.#watched.get(dirname(path))?.subfolders.delete(path)
    return isWatched
  }

  /** Tries refused folders again, and reports a change for them, because changes there had no event. */
  async retry (): Promise<void> {
    for (const { folder, handle } of [...this.#watched.values()]) {
      if (handle !== null) continue
      this.remove(folder.path)
      await this.add([folder])
      if (this.#watched.get(folder.path)?.handle !== null) this.#options.onChange(folder.fsSlug)
    }
  }

  /** Returns the errors of refused watches. */
  refusals (): unknown[] {
    return [...this.#watched.values()].filter(({ handle }) => handle === null).map(({ refusal }) => refusal)
  }

  size (): number {
    return this.#watched.size
  }

  close (): void {
    for (const { handle } of this.#watched.values()) handle?.close()
    this.#watched.clear()
    this.#linkedPaths.clear()
  }

  #listen (folder: WatchedFolder, event: 'rename' | 'change', name: string | null): void {
    if (name === null) this.#options.onChange(folder.fsSlug)
    else if (event === 'rename') this.#options.steps.add(`${folder.path}/${name}`, () => this.#check(folder, name))
    else if (!isIgnored(this.#options.readRules(), folder, unknownItem(name))) this.#options.onWrite(folder.fsSlug)
  }

  /**
   * Checks what happened to a name. Opens the watch of a folder again, because the name may belong to another folder
   * now.
   */
  async #check (folder: WatchedFolder, name: string): Promise<void> {
    if (!this.#watched.has(folder.path)) return
    const wasWatched = this.remove(`${folder.path}/${name}`)
    const item = await readItem(join(folder.real, name), name)
    if (!isIgnored(this.#options.readRules(), folder, item ?? unknownItem(name))) {
      const subfolders = item === null ? null : await resolveFolder(this.#options.readRules(), folder, item)
      if (subfolders !== null) await this.add([subfolders])
      this.#options.onChange(folder.fsSlug)
    } else if (wasWatched) {
      this.#options.onChange(folder.fsSlug)
    }
  }

  async #listInner (folder: WatchedFolder): Promise<WatchedFolder[]> {
    if (folder.content === 'firmware') return []
    const subfolders: WatchedFolder[] = []
    for (const item of await readDirectory(folder.real)) {
      const rules = this.#options.readRules()
      const resolved = isIgnored(rules, folder, item) ? null : await resolveFolder(rules, folder, item)
      if (resolved !== null) subfolders.push(resolved)
    }
    return subfolders
  }

  /**
   * True if a folder is already watched. A link to a watched folder of the same platform adds nothing, and may form a
   * loop.
   */
  #isKnown (folder: WatchedFolder): boolean {
    return this.#watched.has(folder.path) || (folder.isLink && this.#linkedPaths.has(linkKeyOf(folder)))
  }

  #enlist (folder: WatchedFolder, handle: WatchHandle | null, refusal: unknown): void {
    this.#watched.set(folder.path, { folder, handle, refusal, subfolders: new Set() })
    this.#watched.get(dirname(folder.path))?.subfolders.add(folder.path)
    this.#linkedPaths.add(linkKeyOf(folder))
  }

  #fail ({ path }: WatchedFolder, err: unknown): void {
    const entry = this.#watched.get(path)
    entry?.handle?.close()
    if (entry !== undefined) Object.assign(entry, { handle: null, refusal: err })
  }

  /** Watches one folder. @returns its subfolders */
  async #addOne (folder: WatchedFolder): Promise<WatchedFolder[]> {
    if (!this.#options.steps.isOpen() || folder.below.length > MAX_DEPTH || this.#isKnown(folder)) return []
    try {
      const handle = this.#options.open(folder.real,
        (event, name) => { this.#listen(folder, event, name) }, (err) => { this.#fail(folder, err) })
      this.#enlist(folder, handle, null)
      // List only after the watch is open: entries that appear meanwhile are then either listed or reported by the
      // watch.
      return await this.#listInner(folder)
    } catch (err) {
      // The folder is gone again, which the watch of its parent folder reports.
      if (!isNotFoundError(err) && !this.#watched.has(folder.path)) this.#enlist(folder, null, err)
      return []
    }
  }

  #removeAll (path: string): void {
    const entry = this.#watched.get(path)
    if (entry === undefined) return
    entry.handle?.close()
    this.#watched.delete(path)
    this.#linkedPaths.delete(linkKeyOf(entry.folder))
    for (const subfolders of entry.subfolders) this.#removeAll(subfolders)
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
