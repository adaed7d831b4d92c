import type { Cache, ExportGame } from '@svc/plugin-sdk'
import { type PlatformInLibrary, selectStoredRoms } from '../rows.ts'
import type { Db } from '../../../core/database/db.ts'

type GamePath = Pick<ExportGame, 'rom_id' | 'path'>

/** Records where an exporter wrote the games of a platform, because a ROM keeps its id when its file moves. */
export interface PathRecords {
  /** Returns the path of the last export if the game has another one now, and no game has this one. */
  readFormer (game: GamePath): Pick<ExportGame, 'former_path'>
  /** Stores the paths of the games that were written. */
  save (): Promise<void>
}

/**
 * Loads the records of one exporter, platform and library.
 *
 * @param games all games of the export
 */
export async function loadPathRecords (
  { cache, db }: { cache: Cache, db: Db }, exporter: string,
  { platform_id: platform, library_id: library }: PlatformInLibrary, games: readonly GamePath[]
): Promise<PathRecords> {
  const key = `paths/${exporter}/${platform}/${library}`
  const records = new Map(Object.entries((await cache.get(key) ?? {}) as Record<string, string>))
  const paths = new Set(games.map(({ path }) => path))

  /** Returns the records of ROMs whose files are away, because their files may return under other names. */
  async function listAbsent (): Promise<[string, string][]> {
    const ids = new Set(games.map(({ rom_id: id }) => String(id)))
    const absent = [...records].filter(([id, path]) => !ids.has(id) && !paths.has(path))
    const stored = new Set(await selectStoredRoms(db, absent.map(([id]) => Number(id))))
    return absent.filter(([id]) => stored.has(Number(id)))
  }

  return {
    readFormer ({ rom_id: id }) {
      const former = records.get(String(id))
      return former === undefined || paths.has(former) ? {} : { former_path: former }
    },

    async save () {
      const written = games.map(({ rom_id: id, path }): [string, string] => [String(id), path])
      const current = new Map([...await listAbsent(), ...written])
      const isChanged = current.size !== records.size || [...current].some(([id, path]) => records.get(id) !== path)
      if (isChanged) await cache.set(key, Object.fromEntries(current))
    }
  }
}
