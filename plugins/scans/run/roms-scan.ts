import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { LibraryUnreadableError } from '../../library/directory.ts'
import { romsPath } from '../../library/structure.ts'
import { Rom } from '../../roms/entities.ts'
import type { Library } from '../disk/library.ts'
import type { RomStore } from '../store/rom-rows.ts'
import type { PlatformScan } from './platform-scan.ts'
import type { Progress } from '../tell/progress.ts'
import { toScannedPlatform } from '../identify/sdk-rom.ts'

interface RomsScanServices {
  platformScan: PlatformScan
  store: Pick<RomStore, 'markMissing'>
  progress: Progress
  signal: AbortSignal
}

/**
 * Scans just some ROMs, whatever the type's own choice would be: their files are rebuilt and their names read again.
 *
 * @returns the ids of their platforms
 */
export async function scanRoms (
  app: FastifyInstance, config: Config, ids: readonly number[], services: RomsScanServices, library: Library
): Promise<number[]> {
  const { platformScan, store, progress, signal } = services
  const roms = await app.orm.em.fork().find(Rom, { id: [...ids] }, { populate: ['platform'] })
  const byPlatform = Map.groupBy(roms, (rom) => rom.platform.id)
  progress.add({ total_platforms: byPlatform.size, total_roms: roms.length })
  for (const own of byPlatform.values()) {
    signal.throwIfAborted()
    const row = own[0]?.platform
    if (row === undefined) continue
    const { fs_slug: fsSlug } = row
    const facts = app.platforms.facts(row, config.system)
    const platform = toScannedPlatform(row, facts, romsPath(library.structure, fsSlug))
    progress.platform(platform.name)
    progress.add({ scanned_platforms: 1 })
    const ownIds = own.map((rom) => rom.id)
    if (!library.folders.includes(fsSlug) && !library.unclear.has(fsSlug)) {
      await store.markMissing(ownIds, true)
      progress.add({ scanned_roms: own.length })
      continue
    }
    try {
      await platformScan.scanNamed(platform, new Set(ownIds))
    } catch (err) {
      signal.throwIfAborted()
      if (!(err instanceof LibraryUnreadableError)) throw err
      progress.problem({ platform: fsSlug, path: platform.fs_path, reason: err.message })
    }
  }
  return [...byPlatform.keys()]
}
