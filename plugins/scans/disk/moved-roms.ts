import { join } from 'node:path'
import type { Db } from '../../../core/database/db.ts'
import { LibraryUnreadableError, folderInode } from '../../library/directory.ts'
import { isAbsent } from '../../../core/files/fs-error.ts'
import { moveFolder } from '../../../core/store/move-object.ts'
import type { Store } from '../../../core/store/store.ts'
import { artworkFolder } from '../../artwork/artwork.ts'
import { resourceKey } from '../../resources/resource-key.ts'
import { digestOf } from './missing-roms.ts'
import {
  type LocatedHashes, type PlatformFolderRef, type StoredFile, listElsewhere, listFiles, listNamesakes
} from '../rom-rows.ts'
import type { RomRow, RomWrite } from '../rom-write-rows.ts'

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
   * Artwork moves along, and data of the ROM, such as saves, stays with it. ROMs without hashes have the same content
   * if their names, and the names, sizes and times of their files are equal.
   */
  claim (writes: readonly RomWrite[], platform: PlatformFolderRef): Promise<void>
}

/** FAT stores times in steps of two seconds. */
const TIME_STEP_MS = 2_000

type FileFacts = Pick<StoredFile, 'file_name' | 'file_path' | 'file_size_bytes' | 'last_modified'>

/** True if the files of two ROMs have the same paths in their platform folders, and the same sizes and times. */
function areSameFiles (
  files: readonly FileFacts[], folder: string, others: readonly FileFacts[], otherFolder: string
): boolean {
  const keyOf = (file: FileFacts, { length }: string) => `${file.file_path.slice(length)}/${file.file_name}`
  const times = new Map(others.map((file) => [`${keyOf(file, otherFolder)} ${file.file_size_bytes}`, file.last_modified]))
  return files.length === others.length && files.every((file) => {
    const time = times.get(`${keyOf(file, folder)} ${file.file_size_bytes}`)
    return time !== undefined && Math.abs(time - file.last_modified) <= TIME_STEP_MS
  })
}

/** True if the file of a ROM is gone. A file on a disk that is not mounted is not gone. */
async function isGone (
  rom: LocatedHashes, findLibraryDir: MoveServices['findLibraryDir']
): Promise<boolean> {
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

/** Moves artwork before the row is written, because a second claim after a crash repairs a half-done move. */
async function moveArtwork (store: Store, rom: LocatedHashes, platformId: number): Promise<void> {
  if (rom.platform_id === platformId) return
  const keyOf = (platform: number) => resourceKey(artworkFolder(platform, rom.id))
  await moveFolder(store, keyOf(rom.platform_id), keyOf(platformId))
}

export function createMovedRoms ({ db, findLibraryDir, store }: MoveServices): MovedRoms {
  const claimed = new Set<number>()

  async function listGone (candidates: readonly LocatedHashes[]): Promise<LocatedHashes[]> {
    const goneRoms: LocatedHashes[] = []
    for (const rom of candidates) if (await isGone(rom, findLibraryDir)) goneRoms.push(rom)
    return goneRoms.filter((rom) => !claimed.has(rom.id))
  }

  /** Gives a row the id of the only candidate whose file is gone. */
  async function claimOne (
    row: RomRow, platform: PlatformFolderRef, candidates: readonly LocatedHashes[]
  ): Promise<void> {
    const [match, ...others] = await listGone(candidates)
    if (match === undefined || others.length > 0) return
    claimed.add(match.id)
    await moveArtwork(store, match, platform.id)
    row.id = match.id
    row.stored_name = match.fs_name
  }

  async function claimByHash (rows: readonly RomRow[], platform: PlatformFolderRef): Promise<void> {
    const candidates = Map.groupBy(
      await listElsewhere(db, platform, rows.map((row) => row.sha1_hash)), digestOf)
    if (candidates.size === 0) return
    for (const row of rows) await claimOne(row, platform, candidates.get(digestOf(row)) ?? [])
  }

  async function claimByFiles (writes: readonly RomWrite[], platform: PlatformFolderRef): Promise<void> {
    const namesakes = await listNamesakes(db, platform, writes.map(({ row }) => row))
    if (namesakes.length === 0) return
    const files = await listFiles(db, namesakes.map(({ id }) => id))
    const candidates = Map.groupBy(namesakes, (rom) => rom.fs_name)
    for (const { row, files: found } of writes) {
      const same = candidates.get(row.fs_name)?.filter((rom) =>
        areSameFiles(found, row.fs_path, files.get(rom.id) ?? [], rom.fs_path)) ?? []
      await claimOne(row, platform, same)
    }
  }

  return {
    async claim (writes, platform) {
      const filled = writes.filter(({ row }) => row.fs_size_bytes > 0)
      const hashed = filled.map(({ row }) => row).filter((row) => row.sha1_hash !== '')
      const unhashed = filled.filter(({ row }) => row.sha1_hash === '')
      if (hashed.length > 0) await claimByHash(hashed, platform)
      if (unhashed.length > 0) await claimByFiles(unhashed, platform)
    }
  }
}
