import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { LibraryUnreadableError, readLibraryDirectory } from '../../library/directory.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import { PathRefusedError } from '../../../core/files/safe-path.ts'
import { systemConfig } from '../../platforms/config.ts'
import { firmwarePath, romsPath } from '../../library/structure.ts'
import type { Platform } from '../../platforms/entities.ts'
import { isPlatformIdentified } from '../../platforms/views.ts'
import { roomsOf } from '../../permissions/audience-rooms.ts'
import { scanFirmware } from '../../firmware/scan.ts'
import { type Library, chooseFolders, readLibraryAgain } from '../disk/read-library.ts'
import { markPlatforms, upsertFolder } from '../platform-rows.ts'
import type { PlatformScan } from './scan-platform.ts'
import type { ScanContext } from './scan-context.ts'
import type { UnfinishedRoms } from './unfinished-rows.ts'
import type { ScanProblem, ScanType } from '../../matching/scan-types.ts'
import type { ScanPayload } from '../schemas.ts'
import { type ScannedPlatform, toScannedPlatform } from '../../matching/sdk-rom.ts'

/** The platform folders of one library that are scanned. */
export interface LibraryPlan { library: Library, folders: string[] }

interface LibraryScanServices extends Pick<ScanContext, 'app' | 'config' | 'progress' | 'listeners' | 'signal'> {
  platformScan: PlatformScan
  unfinished: UnfinishedRoms
  /** Announces how many entries are about to be read. */
  expect: (count: number) => void
}

/** Counts the entries of the folders of a plan that no rule excludes. */
async function countEntries (
  { library: { root, structure }, folders }: LibraryPlan, rules: ExclusionRules
): Promise<number> {
  let total = 0
  for (const folder of folders) {
    // An unreadable folder is reported when it is scanned.
    const items = await readLibraryDirectory(join(root.dir, romsPath(structure, folder))).catch(() => [])
    total += items.filter(({ kind, name }) =>
      kind === 'folder' ? !rules.isExcludedMulti(name) : !rules.isExcludedSingle(name)).length
  }
  return total
}

/**
 * Runs work on one folder, whose problems do not stop the scan of other folders. @returns true if no problem occurred
 */
async function attempt (
  { progress, signal }: LibraryScanServices, { platform, path }: Omit<ScanProblem, 'reason'>, work: () => Promise<void>
): Promise<boolean> {
  try {
    await work()
    return true
  } catch (err) {
    signal.throwIfAborted()
    if (!(err instanceof LibraryUnreadableError) && !(err instanceof PathRefusedError)) throw err
    progress.problem({ platform, path, reason: err.message })
    return false
  }
}

/** Scans the firmware of a platform in one library. @returns the number of new files */
async function scanFirmwareOf (
  services: LibraryScanServices, platform: ScannedPlatform, { root, structure }: Library, type: ScanType
): Promise<number> {
  const { app, progress, signal } = services
  const folder = firmwarePath(structure, platform.fs_slug)
  let added = 0
  await attempt(services, { platform: platform.fs_slug, path: folder }, async () => {
    added = await scanFirmware(platform, {
      db: app.db,
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
 * Marks platforms as present or missing. The ROMs of a missing platform keep their rows and are marked missing too.
 */
async function markPlatformsOf (before: Library, { db, library: { rules } }: FastifyInstance): Promise<void> {
  const { root, known, folders, unreadable } = await readLibraryAgain(before, rules)
  const present = new Set(folders)
  const keptSlugs = new Set([...folders, ...before.folders, ...unreadable, ...before.unreadable])
  const presentIds = known.filter((row) => present.has(row.fs_slug)).map((row) => row.id)
  const missingIds = known.filter((row) => !keptSlugs.has(row.fs_slug)).map((row) => row.id)
  await markPlatforms(db, root.id, presentIds, missingIds)
}

/** Scans the platform folders of libraries that a payload asks for, or all of them. */
export function createLibraryScan (services: LibraryScanServices) {
  const { app, config, platformScan, unfinished, progress, expect, signal } = services
  const { rules } = app.library
  /** Platforms that are already counted, because a platform in several libraries counts once. */
  const [planned, counted] = [new Set<string>(), new Set<number>()]

  async function countTotals (plan: LibraryPlan): Promise<void> {
    const platforms = plan.folders.filter((folder) => !planned.has(folder))
    for (const folder of platforms) planned.add(folder)
    const total = await countEntries(plan, rules)
    expect(total)
    progress.add({ total_platforms: platforms.length, total_roms: total })
  }

  function countPlatform (id: number, isNew: boolean, isIdentified: boolean): void {
    if (counted.has(id)) return
    counted.add(id)
    progress.add({
      scanned_platforms: 1, new_platforms: isNew ? 1 : 0, identified_platforms: isIdentified ? 1 : 0
    })
  }

  /** Scans one platform folder. @returns the platform's id; null if its ROMs could not be read */
  async function scanFolder (folder: string, library: Library, type: ScanType): Promise<number | null> {
    const { root, structure } = library
    const { platform: row, isNew } = await app.platforms.ensure(app.db, folder, systemConfig.of(config))
    const facts = app.platforms.facts(row, systemConfig.of(config))
    const platform = toScannedPlatform(row, facts, root.id, romsPath(structure, folder))
    await upsertFolder(app.db, platform, null)
    progress.platform(platform.name)
    const isIdentified = isPlatformIdentified(facts)
    countPlatform(row.id, isNew || row.created_at >= unfinished.startedAt, isIdentified)
    const added = await scanFirmwareOf(services, platform, library, type)
    await announcePlatform(services, row, {
      display_name: platform.name, is_identified: isIdentified, new_firmware_count: added
    })
    const location = { platform: folder, path: platform.fs_path }
    return await attempt(services, location, () => platformScan.scanAll(platform)) ? row.id : null
  }

  return {
    /**
     * Chooses and counts the folders to scan. @param named the folders of the platforms that the payload names by id
     */
    async plan (payload: ScanPayload, named: readonly string[], library: Library): Promise<LibraryPlan> {
      const old = new Set(library.known.filter((platform) => platform.created_at < unfinished.since)
        .map((platform) => platform.fs_slug))
      const folders = chooseFolders(payload, named, library.folders)
        .filter((folder) => payload.type !== 'new_platforms' || !old.has(folder))
      const plan = { library, folders }
      await countTotals(plan)
      return plan
    },

    /**
     * Scans the folders of a plan.
     *
     * @returns the ids of the scanned platforms, without those that could not be read
     * @throws the errors of {@link readLibraryAgain} if the library is gone; then none of its ROMs is marked missing
     */
    async scan ({ library, folders }: LibraryPlan, type: ScanType): Promise<number[]> {
      const ids: number[] = []
      for (const folder of folders) {
        signal.throwIfAborted()
        const id = await scanFolder(folder, library, type)
        if (id === null) await readLibraryAgain(library, rules)
        else ids.push(id)
      }
      await markPlatformsOf(library, app)
      return ids
    }
  }
}
export type LibraryScan = ReturnType<typeof createLibraryScan>
