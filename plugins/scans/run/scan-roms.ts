import { systemConfig } from '../../platforms/config.ts'
import { romsPath } from '../../library/structure.ts'
import { Rom } from '../../roms/entities.ts'
import { markMissing } from '../rom-rows.ts'
import { attempt } from './attempt.ts'
import type { PlatformScan } from './scan-platform.ts'
import type { ScanContext } from './scan-context.ts'
import { toScannedPlatform } from '../../matching/sdk-rom.ts'

interface RomsScanServices extends Pick<ScanContext, 'app' | 'config' | 'libraries' | 'progress' | 'signal'> {
  platformScan: PlatformScan
}

/**
 * Scans only some ROMs: rebuilds their files and reads their names again, with every type of scan. ROMs of libraries
 * that cannot be read are not touched.
 *
 * @returns the ids of the platforms of these ROMs
 */
export async function scanRoms (services: RomsScanServices, romIds: readonly number[]): Promise<number[]> {
  const { app, config, platformScan, progress, signal } = services
  const libraries = services.libraries.list()
  const roms = await app.db.em.find(Rom, { id: [...romIds] }, { populate: ['platform'] })
  const byFolder = Map.groupBy(roms, (rom) => `${rom.platform.id} ${rom.library_id}`)
  const platformIds = new Set(roms.map((rom) => rom.platform.id))
  progress.add({ total_platforms: platformIds.size, total_roms: roms.length })
  progress.add({ scanned_platforms: platformIds.size })
  for (const romsOfPlatform of byFolder.values()) {
    signal.throwIfAborted()
    const row = romsOfPlatform[0]?.platform
    const library = libraries.find(({ root }) => root.id === romsOfPlatform[0]?.library_id)
    if (row === undefined) continue
    const { fs_slug: fsSlug } = row
    if (library === undefined) {
      progress.problem({ platform: fsSlug, path: '', reason: `the library of ${romsOfPlatform.length} of its ROMs cannot be read` })
      continue
    }
    const facts = app.platforms.facts(row, systemConfig.of(config))
    const platform = toScannedPlatform(row, facts, library.root.id, romsPath(library.structure, fsSlug))
    progress.platform(platform.name)
    if (!library.folders.includes(fsSlug) && !library.unreadable.has(fsSlug)) {
      await markMissing(app.db, romsOfPlatform, true)
      progress.add({ scanned_roms: romsOfPlatform.length })
      continue
    }
    const ids = new Set(romsOfPlatform.map((rom) => rom.id))
    const location = { platform: fsSlug, path: platform.fs_path }
    await attempt(signal, progress, location, () => platformScan.scanNamed(platform, ids))
  }
  return [...platformIds]
}
