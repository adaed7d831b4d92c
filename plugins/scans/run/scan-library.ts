import { join } from 'node:path'
import { readLibraryDirectory } from '../../library/directory.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import { systemConfig } from '../../platforms/config.ts'
import { firmwarePath, romsPath } from '../../library/structure.ts'
import type { Platform } from '../../platforms/entities.ts'
import { isPlatformIdentified } from '../../platforms/views.ts'
import { roomsOf } from '../../permissions/audience-rooms.ts'
import { scanFirmware } from '../../firmware/scan.ts'
import { type Library, chooseFolders, readLibraryAgain } from '../disk/read-library.ts'
import { orderFolders } from '../disk/order-folders.ts'
import { storeFolder } from '../disk/platform-folder.ts'
import { markPlatforms, selectScanEnd, storeScanEnd } from '../platform-rows.ts'
import type { LeasedPart } from '../parts/part-leases.ts'
import type { PlannedPart } from '../parts/part-rows.ts'
import { attempt } from './attempt.ts'
import type { PlatformScan } from './scan-platform.ts'
import type { ScanContext } from './scan-context.ts'
import type { UnfinishedRoms } from './unfinished-rows.ts'
import type { ScanType } from '../../matching/scan-types.ts'
import type { ScanPayload } from '../schemas.ts'
import { type ScannedPlatform, toScannedPlatform } from '../../matching/sdk-rom.ts'

/** The platform folders of one library that are scanned. */
export interface LibraryPlan { library: Library, parts: PlannedPart[] }

interface LibraryScanServices extends Pick<ScanContext, 'app' | 'config' | 'progress' | 'parts' | 'listeners' | 'signal'> {
  platformScan: PlatformScan
  /** Starts the process that hashes, for files that follow soon. */
  prepareHashing: () => void
  unfinished: UnfinishedRoms
}

/** Counts the entries of a platform folder that no rule excludes. */
async function countEntries ({ root, structure }: Library, folder: string, rules: ExclusionRules): Promise<number> {
  // An unreadable folder is reported when it is scanned.
  const items = await readLibraryDirectory(join(root.dir, romsPath(structure, folder))).catch(() => [])
  return items.filter(({ kind, name }) =>
    kind === 'folder' ? !rules.isExcludedMulti(name) : !rules.isExcludedSingle(name)).length
}

/** Scans the firmware of a platform in one library. @returns the number of new files */
async function scanFirmwareOf (
  services: LibraryScanServices, platform: ScannedPlatform, { root, structure }: Library, type: ScanType
): Promise<number> {
  const { app, parts, signal } = services
  const progress = parts.of(platform)
  const folder = firmwarePath(structure, platform.fs_slug)
  let added = 0
  await attempt(signal, progress, { platform: platform.fs_slug, path: folder }, async () => {
    added = await scanFirmware(platform, {
      db: app.db,
      check: (tx) => parts.check(tx, [platform]),
      folder,
      library: root,
      rules: app.library.rules,
      isThorough: type === 'complete' || type === 'hashes',
      progress,
      signal
    })
  })
  return added
}

/** Sends the event that the ROMs of a platform are about to be scanned. */
async function announcePlatform (
  { app, config, listeners }: LibraryScanServices, { id, name, slug, fs_slug: fsSlug }: Platform, more: {
    display_name: string, is_identified: boolean, new_firmware_count: number
  }
): Promise<void> {
  const audience = await app.permissions.findPlatformAudience(id)
  listeners.countUrgent(1)
  app.sockets.publish(roomsOf(audience, config), 'scan:scanning_platform', {
    id, name, slug, fs_slug: fsSlug, ...more
  })
}

/**
 * Marks platforms as present or missing, and stores the end of the scan of their library. The ROMs of a missing
 * platform keep their rows and are marked missing too.
 */
async function storeEnd (
  before: Library, { app: { library: { rules } }, parts }: LibraryScanServices
): Promise<void> {
  const { root, known, folders, unreadable } = await readLibraryAgain(before, rules)
  const present = new Set(folders)
  const keptSlugs = new Set([...folders, ...before.folders, ...unreadable, ...before.unreadable])
  const presentIds = known.filter((row) => present.has(row.fs_slug)).map((row) => row.id)
  const missingIds = known.filter((row) => !keptSlugs.has(row.fs_slug)).map((row) => row.id)
  await parts.write([], async (db) => {
    await markPlatforms(db, root.id, presentIds, missingIds)
    await storeScanEnd(db, root.id, parts.holder.task, null)
  })
}

/** Plans the parts of a library scan, and scans them. */
export function createLibraryScan (services: LibraryScanServices) {
  const { app, config, parts, platformScan, prepareHashing, unfinished, progress, signal } = services
  /** Folders that are already planned, because a platform in several libraries counts once. */
  const planned = new Set<string>()

  async function planFolders (library: Library, folders: readonly string[]): Promise<PlannedPart[]> {
    const counts = await Promise.all(folders.map((folder) => countEntries(library, folder, app.library.rules)))
    return folders.map((folder, index) => {
      const isFirst = !planned.has(folder)
      planned.add(folder)
      return { library_id: library.root.id, folder, entries: counts[index] ?? 0, counts_platform: isFirst }
    })
  }

  return {
    /**
     * Chooses and counts the folders to scan. @param named the folders of the platforms that the payload names by id
     */
    async plan (payload: ScanPayload, named: readonly string[], library: Library): Promise<LibraryPlan> {
      const old = new Set(library.known.filter((platform) => platform.created_at < unfinished.since)
        .map((platform) => platform.fs_slug))
      const chosen = chooseFolders(payload, named, library.folders)
        .filter((folder) => payload.type !== 'new_platforms' || !old.has(folder))
      const scannedAt = old.size === 0 ? null : await selectScanEnd(app.db, library.root.id)
      const { folders, needsHashes } = await orderFolders(chosen, library, { type: payload.type, scannedAt })
      if (needsHashes) prepareHashing()
      const plan = { library, parts: await planFolders(library, folders) }
      progress.add({
        total_platforms: plan.parts.filter((part) => part.counts_platform).length,
        total_roms: plan.parts.reduce((sum, { entries }) => sum + entries, 0)
      })
      return plan
    },

    /** Scans one platform folder. @returns the platform's id; null if its ROMs could not be read */
    async scanPart (part: LeasedPart, library: Library, type: ScanType): Promise<number | null> {
      const { root, structure } = library
      const { folder } = part
      const bindings = systemConfig.of(config)
      const { platform: row, isNew } = await app.platforms.ensure(app.db, folder, bindings)
      const facts = app.platforms.facts(row, bindings)
      const platform = toScannedPlatform(row, facts, root.id, romsPath(structure, folder))
      parts.assign(platform, part)
      await storeFolder({ db: app.db, parts }, platform, null)
      progress.platform(platform.name)
      const isIdentified = isPlatformIdentified(facts)
      if (part.counts_platform) {
        const isAdded = isNew || row.created_at >= unfinished.startedAt
        part.add({ scanned_platforms: 1, new_platforms: Number(isAdded), identified_platforms: Number(isIdentified) })
      }
      const added = await scanFirmwareOf(services, platform, library, type)
      await announcePlatform(services, row, {
        display_name: platform.name, is_identified: isIdentified, new_firmware_count: added
      })
      const location = { platform: folder, path: platform.fs_path }
      return await attempt(signal, part, location, () => platformScan.scanAll(platform)) ? row.id : null
    },

    /**
     * Marks the platforms of a library whose folders are all read, and stores the end of its scan.
     *
     * @throws the errors of {@link readLibraryAgain} if the library is gone; then none of its ROMs is marked missing
     */
    finish: (library: Library): Promise<void> => storeEnd(library, services)
  }
}
export type LibraryScan = ReturnType<typeof createLibraryScan>
