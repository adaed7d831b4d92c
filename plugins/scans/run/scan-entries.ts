import { systemConfig } from '../../platforms/config.ts'
import { romsPath } from '../../library/structure.ts'
import { Platform } from '../../platforms/entities.ts'
import type { Library } from '../disk/read-library.ts'
import { markPlatforms } from '../platform-rows.ts'
import { toScannedPlatform } from '../../matching/sdk-rom.ts'
import { attempt } from './attempt.ts'
import type { ScanContext } from './scan-context.ts'
import type { PlatformScan } from './scan-platform.ts'

interface EntriesScanServices extends Pick<ScanContext, 'app' | 'config' | 'libraries' | 'progress' | 'signal'> {
  platformScan: PlatformScan
}

/**
 * Scans only some entries of platform folders, by name, for example after an upload.
 *
 * @returns the ids of the platforms
 */
export async function scanEntries (
  { app, config, libraries: { listChosen }, platformScan, progress, signal }: EntriesScanServices,
  platformIds: readonly number[], names: readonly string[]
): Promise<number[]> {
  const libraries = listChosen()
  const rows = await app.db.em.find(Platform, { id: [...platformIds] })
  progress.add({ total_platforms: rows.length, total_roms: rows.length * names.length * libraries.length })

  async function scanIn ({ root, structure }: Library, row: Platform): Promise<void> {
    const facts = app.platforms.facts(row, systemConfig.of(config))
    const platform = toScannedPlatform(row, facts, root.id, romsPath(structure, row.fs_slug))
    progress.platform(platform.name)
    await attempt(signal, progress, { platform: row.fs_slug, path: platform.fs_path }, async () => {
      await platformScan.scanEntries(platform, new Set(names))
      // The platform folder may have been created for these entries.
      await markPlatforms(app.db, root.id, [row.id], [])
    })
  }

  for (const row of rows) {
    signal.throwIfAborted()
    progress.add({ scanned_platforms: 1 })
    for (const library of libraries) await scanIn(library, row)
  }
  return rows.map(({ id }) => id)
}
