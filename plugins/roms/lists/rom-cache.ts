import type { Game } from '../rows.ts'

/** In each worker: some 4,000 ROMs that much is known of. */
const MAX_BYTES = 16 * 1024 ** 2

/** What everybody gets of a ROM, and what it takes to tell a viewer the rest. */
export interface CachedRom {
  /** As of `SeenRomRow.stamp`: while that is the same, so is the ROM. */
  stamp: string
  json: string
  games: readonly Game[]
  still: string | null
}

const keyOf = (id: number, files: boolean) => files ? `${id} with files` : String(id)

/**
 * The JSON of ROMs that were asked for lately. Whether one is still right, and whether its viewer may see it, says the
 * statement that reads what the viewer has of it: what is kept has nothing of any viewer, and ends when its stamp does.
 */
export function createRomCache (maxBytes = MAX_BYTES) {
  const kept = new Map<string, CachedRom>()
  let bytes = 0

  function drop (key: string): void {
    bytes -= kept.get(key)?.json.length ?? 0
    kept.delete(key)
  }

  return {
    /** Those of these ROMs that are there, by id. */
    find (ids: readonly number[], files: boolean): Map<number, CachedRom> {
      return new Map(ids.flatMap((id) => {
        const key = keyOf(id, files)
        const rom = kept.get(key)
        if (rom === undefined) return []
        kept.delete(key)
        kept.set(key, rom)
        return [[id, rom] as const]
      }))
    },

    /** In the place of an older one; the longest unused go first. */
    store (id: number, files: boolean, rom: CachedRom): void {
      const key = keyOf(id, files)
      drop(key)
      kept.set(key, rom)
      bytes += rom.json.length
      for (const other of kept.keys()) {
        if (bytes <= maxBytes) return
        drop(other)
      }
    },

    bytes: (): number => bytes
  }
}
