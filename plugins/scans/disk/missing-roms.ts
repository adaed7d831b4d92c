import type { Db } from '../../../core/database/db.ts'
import type { FileRow } from '../file-rows.ts'
import { type RomHashes, type StoredFile, type StoredRomSummary, listFiles, listHashes } from '../rom-rows.ts'
import type { RomRow } from '../rom-write-rows.ts'

/** The ROMs of a platform whose file is gone and that no new file has claimed. */
export interface MissingRoms {
  ids: () => number[]
  /**
   * Returns the missing ROM with the same content and removes it from the missing ones; null unless exactly one
   * matches.
   */
  claim: (row: RomRow, files: readonly FileRow[]) => Promise<StoredRomSummary | null>
}

type FileFacts = Pick<StoredFile, 'inode' | 'file_size_bytes' | 'last_modified'>

/** Returns a key that is equal for ROMs with the same content. */
export const digestOf = (hashes: Omit<RomHashes, 'id'>) =>
  [hashes.fs_size_bytes, hashes.crc_hash, hashes.md5_hash, hashes.sha1_hash].join(':')

/**
 * Returns a key that is equal for the same files under other names, for ROMs without hashes. Null if an inode is
 * unknown.
 */
function inodesKeyOf (files: readonly FileFacts[]): string | null {
  if (files.some(({ inode }) => inode === '' || inode === '0')) return null
  return files.map((file) => [file.inode, file.file_size_bytes, file.last_modified].join(':')).sort().join()
}

export function createMissingRoms (goneRoms: readonly StoredRomSummary[], db: Db): MissingRoms {
  const roms = new Map(goneRoms.map((rom) => [rom.id, rom]))
  let byDigest: Promise<Map<string, number[]>> | null = null
  let byIdentity: Promise<Map<string, number[]>> | null = null

  function group<Row> (rows: Iterable<Row>, keyOf: (row: Row) => string | null, idOf: (row: Row) => number) {
    const groups = new Map<string, number[]>()
    for (const row of rows) {
      const key = keyOf(row)
      if (key !== null) groups.set(key, [...groups.get(key) ?? [], idOf(row)])
    }
    return groups
  }

  async function find (row: RomRow, files: readonly FileRow[]): Promise<number[]> {
    if (row.sha1_hash !== '') {
      byDigest ??= listHashes(db, [...roms.keys()]).then((rows) => group(rows, digestOf, ({ id }) => id))
      return (await byDigest).get(digestOf(row)) ?? []
    }
    byIdentity ??= listFiles(db, [...roms.keys()])
      .then((known) => group(known, ([, stored]) => inodesKeyOf(stored), ([id]) => id))
    const identity = inodesKeyOf(files)
    return identity === null ? [] : (await byIdentity).get(identity) ?? []
  }

  return {
    ids: () => [...roms.keys()],
    async claim (row, files) {
      // All empty files have the same content.
      if (roms.size === 0 || row.fs_size_bytes === 0) return null
      const [match, ...others] = (await find(row, files)).flatMap((id) => roms.get(id) ?? [])
      if (match === undefined || others.length > 0) return null
      roms.delete(match.id)
      return match
    }
  }
}
