import { posix } from 'node:path'
import { stemOf } from '../../../core/files/stem-of.ts'
import { toReason } from '../files/fs-reason.ts'
import type { GameDraft } from '../games.ts'
import type { MediaFolder } from './media-folder.ts'
import type { MediaRecords } from './media-records.ts'
import { deleteMedium } from './publish-medium.ts'

/** The media of an export, after those of all games were written. */
export interface WrittenMedia {
  records: MediaRecords
  /** The media folders, relative to the platform folder. */
  folders: readonly string[]
  /** Returns null if the folder cannot be opened. */
  openFolder (path: string): Promise<MediaFolder | null>
  /** The media of games, also those that could not be written: paths without extension are the keys. */
  claims: Pick<ReadonlyMap<string, unknown>, 'has'>
  report (path: string, reason: string): void
}

export interface FormerMedia {
  /** Deletes media that earlier exports published and no game has any more. */
  deleteStale (): Promise<void>
  /** Lists all files in the media folders that have the game's name, after `deleteStale`. */
  listFiles (draft: GameDraft): Promise<string[]>
}

/** Handles what the media folders contain besides the media of this export. */
export function createFormerMedia (written: WrittenMedia): FormerMedia {
  const { records, folders, openFolder, claims, report } = written
  const namesByStem = new Map<MediaFolder, ReadonlyMap<string, string[]>>()

  function findNames (folder: MediaFolder, stem: string): readonly string[] {
    const found = namesByStem.get(folder) ?? Map.groupBy(folder.names, stemOf)
    namesByStem.set(folder, found)
    return found.get(stem) ?? []
  }

  return {
    async deleteStale () {
      const isStale = (path: string) =>
        !claims.has(stemOf(path)) && folders.some((folder) => path.startsWith(`${folder}/`))
      for (const path of records.list().filter(isStale)) {
        try {
          const folder = await openFolder(posix.dirname(path))
          if (folder !== null) await deleteMedium(folder, posix.basename(path), records)
        } catch (err) {
          report(path, toReason(err))
        }
      }
    },

    async listFiles ({ stem }) {
      const { dir, base } = posix.parse(stem)
      const files: string[] = []
      for (const folderPath of folders) {
        const top = await openFolder(folderPath)
        const folder = top?.exists === true ? await openFolder(posix.join(folderPath, dir)) : null
        if (folder === null) continue
        files.push(...findNames(folder, base).map((name) => posix.join(folder.path, name)))
      }
      return files
    }
  }
}
