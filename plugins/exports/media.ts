import { lstat, rm, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { MediaKind } from '@svc/plugin-sdk'
import { errorCode } from '../../core/library/fs-error.ts'
import { openInside, resolveInside, safeRelativePath } from '../../core/library/safe-path.ts'
import { describeWriteError, isDiskFull, isNotWritable, toReason } from './fs-reason.ts'
import type { GameDraft } from './games.ts'
import { convertImage, readImageType } from './images.ts'
import { type Content, type MediaFolder, openMediaFolder, putFile } from './media-folder.ts'
import type { MediaRecords, MediaSource } from './media-records.ts'
import type { MediaError } from './schemas.ts'

/** The medium that a folder holds for a game. */
export interface PlacedMedium {
  kind: MediaKind
  /** Relative to the platform folder. */
  path: string
}

export interface MediaOptions {
  /** The platform's folder, without symbolic links. */
  root: string
  resourcesDir: string
  /** Folder → the kinds it may hold; of a game it holds the first that there is. */
  folders: ReadonlyMap<string, readonly MediaKind[]>
  records: MediaRecords
}

export interface MediaPlacer {
  /** Puts a game's media beside the ROMs. By folder. @throws the file system's error when the disk is full. */
  place (draft: GameDraft): Promise<Map<string, PlacedMedium>>
  errors: readonly MediaError[]
}

const ERRORS_MAX = 100
/** What frontends look for, in their order. */
const IMAGE_EXTENSIONS = ['.png', '.jpg']
const FILM_EXTENSIONS = ['.mp4', '.mkv', '.avi', '.wmv', '.mov', '.webm', '.m4v']
const EXTENSIONS: Partial<Record<MediaKind, readonly string[]>> = {
  video: FILM_EXTENSIONS, video_normalized: FILM_EXTENSIONS, manual: ['.pdf', '.cbz']
}
const extensionsOf = (kind: MediaKind) => EXTENSIONS[kind] ?? IMAGE_EXTENSIONS

/** One platform's media during one export. */
export function createMediaPlacer ({ root, resourcesDir, folders, records }: MediaOptions): MediaPlacer {
  const opened = new Map<string, Promise<MediaFolder | null>>()
  const closed = new Set<MediaFolder>()
  /** Two ROMs that differ in their extension share one name: it belongs to the first that has such a medium. */
  const claims = new Map<string, Promise<PlacedMedium | null>>()
  const errors: MediaError[] = []

  function report (path: string, reason: string): void {
    if (errors.length < ERRORS_MAX) errors.push({ path, reason })
  }

  async function open (path: string): Promise<MediaFolder | null> {
    try {
      return await openMediaFolder(root, path)
    } catch (err) {
      report(path, describeWriteError(err, join(root, path)))
      return null
    }
  }

  function openOnce (path: string): Promise<MediaFolder | null> {
    const known = opened.get(path) ?? open(path)
    opened.set(path, known)
    return known
  }

  async function findSource (target: string, path: string): Promise<MediaSource | null> {
    try {
      return { path, stats: await stat(join(resourcesDir, safeRelativePath(path))) }
    } catch (err) {
      const isGone = errorCode(err) === 'ENOENT'
      report(target, isGone ? `The server has lost its file ${JSON.stringify(path)}. Scan again to fetch it.` : toReason(err))
      return null
    }
  }

  /** Whose a file is that is there already, and whether it has to be made again. */
  async function judge (folder: MediaFolder, name: string, source: MediaSource): Promise<'keep' | 'renew'> {
    const path = posix.join(folder.path, name)
    const found = await lstat(join(folder.real, name))
    if (found.ino === source.stats.ino && found.dev === source.stats.dev) {
      if (!records.isOwn(path, found) || !records.isMadeOf(path, source)) records.set(path, found, source)
      return 'keep'
    }
    // What a power cut left of a copy.
    if (found.isFile() && found.size === 0) return 'renew'
    if (records.isOwn(path, found)) return records.isMadeOf(path, source) ? 'keep' : 'renew'
    records.delete(path)
    return 'keep'
  }

  /** @throws Error when the source is not what its kind wants. */
  async function readContent (kind: MediaKind, { path }: MediaSource): Promise<{ content: Content, extension: string }> {
    const file = await resolveInside(resourcesDir, path)
    const handle = await openInside(resourcesDir, path)
    try {
      const extension = posix.extname(path).toLowerCase()
      if (extensionsOf(kind) !== IMAGE_EXTENSIONS) {
        if (extensionsOf(kind).includes(extension)) return { content: { file }, extension }
        throw new Error(`${JSON.stringify(path)} is no ${kind.split('_')[0]} that frontends know`)
      }
      const type = await readImageType(handle)
      if (type === null) throw new Error(`${JSON.stringify(path)} is no picture`)
      if (type !== 'other') return { content: { file }, extension: `.${type}` }
      const { bytes, extension: converted } = await convertImage(file)
      return { content: { bytes }, extension: converted }
    } finally {
      await handle.close()
    }
  }

  async function write (folder: MediaFolder, stem: string, kind: MediaKind, source: MediaSource, stale: readonly string[]) {
    const { content, extension } = await readContent(kind, source)
    const name = stem + extension
    try {
      if (!await putFile(folder, name, content, stale.includes(name))) return name
      const path = posix.join(folder.path, name)
      records.set(path, await lstat(join(folder.real, name)), source)
      // Our own picture of before, under another extension: a frontend might find it first.
      for (const old of stale.filter((other) => other !== name)) {
        await rm(join(folder.real, old))
        folder.names.delete(old)
        records.delete(posix.join(folder.path, old))
      }
      return name
    } catch (err) {
      if (isNotWritable(err)) closed.add(folder)
      throw isDiskFull(err) ? err : new Error(describeWriteError(err, folder.real), { cause: err })
    }
  }

  async function placeFile (folder: MediaFolder, stem: string, kind: MediaKind, path: string): Promise<string | null> {
    const target = posix.join(folder.path, stem)
    const source = await findSource(target, path)
    if (source === null) return null
    const stale: string[] = []
    for (const name of extensionsOf(kind).map((extension) => stem + extension)) {
      if (!folder.names.has(name)) continue
      if (await judge(folder, name, source) === 'keep') return name
      stale.push(name)
    }
    if (closed.has(folder)) return null
    try {
      return await write(folder, stem, kind, source, stale)
    } catch (err) {
      if (isDiskFull(err)) throw err
      report(target, toReason(err))
      return null
    }
  }

  async function placeFirst (folderPath: string, kinds: readonly MediaKind[], draft: GameDraft): Promise<PlacedMedium | null> {
    const { dir, base } = posix.parse(draft.stem)
    const folder = await openOnce(posix.join(folderPath, dir))
    if (folder === null) return null
    for (const kind of kinds) {
      const source = draft.sources.get(kind)
      const name = source === undefined ? null : await placeFile(folder, base, kind, source)
      if (name !== null) return { kind, path: posix.join(folder.path, name) }
    }
    return null
  }

  function claim (folderPath: string, kinds: readonly MediaKind[], draft: GameDraft): Promise<PlacedMedium | null> {
    const key = posix.join(folderPath, draft.stem)
    const earlier = claims.get(key) ?? Promise.resolve(null)
    const placed = earlier.then((medium) => medium ?? placeFirst(folderPath, kinds, draft))
    claims.set(key, placed)
    return placed
  }

  return {
    errors,
    async place (draft) {
      const placed = new Map<string, PlacedMedium>()
      for (const [folderPath, kinds] of folders) {
        if (!kinds.some((kind) => draft.sources.has(kind))) continue
        const medium = await claim(folderPath, kinds, draft)
        if (medium !== null) placed.set(folderPath, medium)
      }
      return placed
    }
  }
}
