import type { KnownHashes, KnownRom, RomRow, RomStore } from './rom-store.ts'

/** Rows of a platform whose file is gone, as long as no new file turns out to be theirs. */
export interface Missing {
  ids: () => number[]
  /** The row of the same content, taken out of the missing ones; null unless there is exactly one. */
  claim: (row: RomRow) => Promise<number | null>
}

const digestOf = (hashes: Omit<KnownHashes, 'id'>) =>
  [hashes.fs_size_bytes, hashes.crc_hash, hashes.md5_hash, hashes.sha1_hash].join(':')

export function createMissing (gone: readonly KnownRom[], store: RomStore): Missing {
  const ids = new Set(gone.map((rom) => rom.id))
  let byDigest: Promise<Map<string, KnownHashes[]>> | null = null

  const load = async () => Map.groupBy(await store.listHashes([...ids]), digestOf)

  return {
    ids: () => [...ids],
    async claim (row) {
      // All empty files are alike.
      if (ids.size === 0 || row.sha1_hash === '' || row.fs_size_bytes === 0) return null
      byDigest ??= load()
      const [only, ...others] = (await byDigest).get(digestOf(row))?.filter(({ id }) => ids.has(id)) ?? []
      if (only === undefined || others.length > 0) return null
      ids.delete(only.id)
      return only.id
    }
  }
}
