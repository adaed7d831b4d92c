import { createLruCache } from '../../../core/lru-cache.ts'
import type { Game } from '../rows.ts'

/** Limit per worker: some 4,000 ROMs with much metadata. */
const MAX_BYTES = 16 * 1024 ** 2

/** The part of a ROM that is the same for every caller, and the input of the part that is not. */
export interface CachedRom {
  /** The `CallerRomRow.stamp`: the ROM is unchanged while its stamp is. */
  stamp: string
  /** As `BuiltRom.shared`. */
  json: Buffer
  games: readonly Game[]
  stillPath: string | null
}

const keyOf = (id: number, files: boolean) => files ? `${id} with files` : String(id)

/**
 * Caches the JSON of ROMs that were read recently. The statement that reads the caller's own data also checks the stamp
 * and the visibility. A cached entry contains no data of any caller and is stale once its stamp differs.
 */
export function createRomCache (maxBytes = MAX_BYTES) {
  const entries = createLruCache<string, CachedRom>({ max: maxBytes, weightOf: ({ json }) => json.length })

  return {
    /** Returns the cached entries of these ROMs, by id. */
    find (ids: readonly number[], files: boolean): Map<number, CachedRom> {
      return new Map(ids.flatMap((id) => {
        const rom = entries.get(keyOf(id, files))
        return rom === undefined ? [] : [[id, rom] as const]
      }))
    },

    /** Stores an entry, replaces an older one, and evicts the least recently used. */
    store (id: number, files: boolean, rom: CachedRom): void {
      entries.set(keyOf(id, files), rom)
    },

    bytes: entries.weight
  }
}
