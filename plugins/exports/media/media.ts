import { lstat, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { MediaKind } from '@svc/plugin-sdk'
import { exportFailed } from '../errors.ts'
import { describeWriteError, isDiskFull, isNotWritable, toReason } from '../files/fs-reason.ts'
import type { GameDraft } from '../games.ts'
import { type MediaFolder, openMediaFolder, publishFile } from './media-folder.ts'
import type { MediaRecords, MediaSource } from './media-records.ts'
import { extensionsOf, findSource, readContent } from './media-source.ts'
import type { MediaError } from '../schemas.ts'

/** A published medium of a game. */
export interface MediumFile {
  kind: MediaKind
  /** Relative to the platform folder. */
  path: string
}

/** Folder relative to the platform's → the kinds it may hold. A folder holds the first kind that the game has. */
export type MediaFolders = ReadonlyMap<string, readonly MediaKind[]>

export interface MediaOptions {
  /** The platform's folder, without symbolic links. */
  root: string
  resourcesDir: string
  folders: MediaFolders
  records: MediaRecords
}

export interface MediaWriter {
  /**
   * Publishes a game's media beside the ROMs. Media that fail are skipped and reported.
   *
   * @returns the medium of the game in each folder
   * @throws the file system's error if the disk is full.
   */
  writeMedia (draft: GameDraft): Promise<Map<string, MediumFile>>
  errors: readonly MediaError[]
}

const ERRORS_MAX = 100

/** Creates the placer of one platform's media for one export. */
export function createMediaWriter ({ root, resourcesDir, folders, records }: MediaOptions): MediaWriter {
  const opened = new Map<string, Promise<MediaFolder | null>>()
  const closed = new Set<MediaFolder>()
  /** Two ROMs that differ only in their extension share one name. It belongs to the first that has such a medium. */
  const claims = new Map<string, Promise<MediumFile | null>>()
  const errors: MediaError[] = []

  function report (path: string, reason: string): void {
    if (errors.length < ERRORS_MAX) errors.push({ path, reason })
  }

  function openFolder (path: string): Promise<MediaFolder | null> {
    const folder = opened.get(path) ?? openMediaFolder(root, path).catch((err: unknown) => {
      report(path, describeWriteError(err, join(root, path)))
      return null
    })
    opened.set(path, folder)
    return folder
  }

  async function write (
    folder: MediaFolder, stem: string, kind: MediaKind, source: MediaSource, stale: readonly string[]
  ): Promise<string> {
    const { content, extension } = await readContent(resourcesDir, kind, source)
    const name = stem + extension
    try {
      if (!await publishFile(folder, name, content, stale.includes(name))) return name
      records.set(posix.join(folder.path, name), await lstat(join(folder.real, name)), source)
      // Delete the predecessor with another extension, because a frontend might find it first.
      for (const formerName of stale.filter((other) => other !== name)) {
        await rm(join(folder.real, formerName))
        records.delete(posix.join(folder.path, formerName))
      }
      return name
    } catch (err) {
      if (isDiskFull(err)) throw err
      if (isNotWritable(err)) closed.add(folder)
      throw exportFailed(describeWriteError(err, folder.real), { cause: err })
    }
  }

  /** @returns the name of the published file; null if there is none */
  async function writeFile (folder: MediaFolder, stem: string, kind: MediaKind, path: string): Promise<string | null> {
    const source = await findSource(resourcesDir, path)
    const names = extensionsOf(kind).map((extension) => stem + extension).filter((name) => folder.names.has(name))
    for (const name of names) {
      if (await mayStay(folder, name, source, records)) return name
    }
    return closed.has(folder) ? null : await write(folder, stem, kind, source, names)
  }

  async function writeFirst (folderPath: string, kinds: readonly MediaKind[], draft: GameDraft) {
    const { dir, base } = posix.parse(draft.stem)
    const folder = await openFolder(posix.join(folderPath, dir))
    for (const kind of folder === null ? [] : kinds) {
      const source = draft.sources.get(kind)
      if (folder === null || source === undefined) continue
      try {
        const name = await writeFile(folder, base, kind, source)
        if (name !== null) return { kind, path: posix.join(folder.path, name) }
      } catch (err) {
        if (isDiskFull(err)) throw err
        report(posix.join(folder.path, base), toReason(err))
      }
    }
    return null
  }

  function claim (folderPath: string, kinds: readonly MediaKind[], draft: GameDraft): Promise<MediumFile | null> {
    const name = posix.join(folderPath, draft.stem)
    const earlier = claims.get(name) ?? Promise.resolve(null)
    const claimed = earlier.then((medium) => medium ?? writeFirst(folderPath, kinds, draft))
    claims.set(name, claimed)
    return claimed
  }

  return {
    errors,
    async writeMedia (draft) {
      const folderKinds = [...folders].filter(([, kinds]) => kinds.some((kind) => draft.sources.has(kind)))
      const claimed = new Map<string, MediumFile>()
      for (const [folderPath, kinds] of folderKinds) {
        const medium = await claim(folderPath, kinds, draft)
        if (medium !== null) claimed.set(folderPath, medium)
      }
      return claimed
    }
  }
}

/** True if the existing file belongs to someone else, or is ours and current. */
async function mayStay (
  folder: MediaFolder, name: string, source: MediaSource, records: MediaRecords
): Promise<boolean> {
  const path = posix.join(folder.path, name)
  const found = await lstat(join(folder.real, name))
  if (found.ino === source.stats.ino && found.dev === source.stats.dev) {
    if (!records.isUnchanged(path, found) || !records.isFromSource(path, source)) records.set(path, found, source)
    return true
  }
  // A power cut during a copy leaves an empty file.
  if (found.isFile() && found.size === 0) return false
  if (records.isUnchanged(path, found)) return records.isFromSource(path, source)
  records.delete(path)
  return true
}
