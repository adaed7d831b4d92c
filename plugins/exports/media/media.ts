import { join, posix } from 'node:path'
import type { MediaKind } from '@svc/plugin-sdk'
import { describeWriteError, isDiskFull, toReason } from '../files/fs-reason.ts'
import type { GameDraft } from '../games.ts'
import { type FormerMedia, createFormerMedia } from './former-media.ts'
import { type MediaFolder, openMediaFolder } from './media-folder.ts'
import { type MediaServices, publishMedium } from './publish-medium.ts'
import type { MediaError } from '../schemas.ts'

/** A published medium of a game. */
export interface MediumFile {
  kind: MediaKind
  /** Relative to the platform folder. */
  path: string
}

/** Folder relative to the platform's → the kinds it may hold. A folder holds the first kind that the game has. */
export type MediaFolders = ReadonlyMap<string, readonly MediaKind[]>

export interface MediaOptions extends MediaServices {
  /** The platform's folder, without symbolic links. */
  root: string
  folders: MediaFolders
}

export interface MediaWriter extends FormerMedia {
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

/** Creates the writer of one platform's media for one export. */
export function createMediaWriter ({ root, store, folders, records }: MediaOptions): MediaWriter {
  const opened = new Map<string, Promise<MediaFolder | null>>()
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

  async function writeFirst (folderPath: string, kinds: readonly MediaKind[], draft: GameDraft) {
    const { dir, base } = posix.parse(draft.stem)
    const folder = await openFolder(posix.join(folderPath, dir))
    for (const kind of folder === null ? [] : kinds) {
      const source = draft.sources.get(kind)
      if (folder === null || source === undefined) continue
      try {
        const name = await publishMedium({ store, records }, folder, { kind, stem: base, path: source })
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
    ...createFormerMedia({ records, folders: [...folders.keys()], openFolder, claims, report }),
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
