import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { LibraryUnreadableError } from '../../library/directory.ts'
import { romsPath } from '../../library/structure.ts'
import { Platform } from '../../platforms/entities.ts'
import type { Library } from '../disk/library.ts'
import { toScannedPlatform } from '../identify/sdk-rom.ts'
import type { ScanPayload } from '../schemas.ts'
import type { Progress } from '../tell/progress.ts'
import type { PlatformScan } from './platform-scan.ts'

interface EntriesScanServices { platformScan: PlatformScan, progress: Progress, signal: AbortSignal }

/**
 * Scans just some entries of platforms' folders, by name: what was put there a moment ago.
 *
 * @returns the ids of the platforms
 */
export async function scanEntries (
  app: FastifyInstance, config: Config, { platforms: ids }: Pick<ScanPayload, 'platforms'>, names: readonly string[],
  { platformScan, progress, signal }: EntriesScanServices, library: Library
): Promise<number[]> {
  const em = app.orm.em.fork()
  const rows = await em.find(Platform, { id: ids })
  progress.add({ total_platforms: rows.length, total_roms: rows.length * names.length })
  for (const row of rows) {
    signal.throwIfAborted()
    const facts = app.platforms.facts(row, config.system)
    const platform = toScannedPlatform(row, facts, romsPath(library.structure, row.fs_slug))
    progress.platform(platform.name)
    progress.add({ scanned_platforms: 1 })
    try {
      await platformScan.scanEntries(platform, new Set(names))
      // Its folder may have been made for them.
      await em.nativeUpdate(Platform, { id: row.id, missing_from_fs: true }, { missing_from_fs: false })
    } catch (err) {
      signal.throwIfAborted()
      if (!(err instanceof LibraryUnreadableError)) throw err
      progress.problem({ platform: row.fs_slug, path: platform.fs_path, reason: err.message })
    }
  }
  return rows.map(({ id }) => id)
}
