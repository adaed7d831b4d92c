import { join } from 'node:path'
import type { Db } from '../../../core/database/db.ts'
import { LibraryUnreadableError, folderInode } from '../../library/directory.ts'
import { isAbsent } from '../../../core/files/fs-error.ts'
import { moveFolder } from '../../../core/store/move-object.ts'
import type { Store } from '../../../core/store/store.ts'
import { artworkFolder } from '../../artwork/artwork.ts'
import { resourceKey } from '../../resources/resource-key.ts'
import { digestOf } from './missing-roms.ts'
import { type LocatedHashes, type PlatformFolderRef, listElsewhere } from '../rom-rows.ts'
import type { RomRow } from '../rom-write-rows.ts'

interface MoveServices {
  db: Db
  /** Returns the folder of a library; undefined if the library cannot be read: then none of its ROMs counts as gone. */
  findLibraryDir: (libraryId: number) => string | undefined
  store: Store
}

/**
 * Recognises ROMs that moved to this folder from another library or another platform, for example because its folder
 * was renamed.
 */
export interface MovedRoms {
  /**
   * Gives new rows the id of the only row of another platform or library with the same content whose file is gone.
   * Artwork moves along, and data of the ROM, such as saves, stays with it.
   */
  claim (rows: readonly RomRow[], platform: PlatformFolderRef): Promise<void>
}

export function createMovedRoms ({ db, findLibraryDir, store }: MoveServices): MovedRoms {
  const claimed = new Set<number>()

  /** True if the file of a ROM is gone. A file on a disk that is not mounted is not gone. */
  async function isGone (rom: LocatedHashes): Promise<boolean> {
    const dir = findLibraryDir(rom.library_id)
    if (dir === undefined) return false
    const folder = join(dir, rom.fs_path)
    if (!await isAbsent(join(folder, rom.fs_name))) return false
    try {
      const inode = await folderInode(folder)
      return rom.fs_inode === null || inode === rom.fs_inode
    } catch (err) {
      if (!(err instanceof LibraryUnreadableError)) throw err
      return await isAbsent(folder)
    }
  }

  async function listGone (candidates: readonly LocatedHashes[]): Promise<LocatedHashes[]> {
    const goneRoms: LocatedHashes[] = []
    for (const rom of candidates) if (await isGone(rom)) goneRoms.push(rom)
    return goneRoms.filter((rom) => !claimed.has(rom.id))
  }

  /**
   * Moves artwork before the row is written, because a row that is claimed again after a crash repairs a half-done
   * move.
   */
  async function moveArtwork (rom: LocatedHashes, platformId: number): Promise<void> {
    if (rom.platform_id === platformId) return
    const keyOf = (platform: number) => resourceKey(artworkFolder(platform, rom.id))
    await moveFolder(store, keyOf(rom.platform_id), keyOf(platformId))
  }

  return {
    async claim (rows, platform) {
      const hashed = rows.filter((row) => row.sha1_hash !== '' && row.fs_size_bytes > 0)
      if (hashed.length === 0) return
      const candidates = Map.groupBy(
        await listElsewhere(db, platform, hashed.map((row) => row.sha1_hash)), digestOf)
      if (candidates.size === 0) return
      for (const row of hashed) {
        const [match, ...others] = await listGone(candidates.get(digestOf(row)) ?? [])
        if (match === undefined || others.length > 0) continue
        claimed.add(match.id)
        await moveArtwork(match, platform.id)
        row.id = match.id
        row.stored_name = match.fs_name
      }
    }
  }
}
