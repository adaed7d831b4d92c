import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { LibraryUnreadableError, readLibraryDirectory } from '../../library/directory.ts'
import { PathRefusedError } from '../../../core/files/safe-path.ts'
import { systemConfig } from '../../platforms/config.ts'
import { firmwarePath, romsPath } from '../../library/structure.ts'
import { isPlatformIdentified } from '../../platforms/views.ts'
import { roomsOf } from '../../permissions/audience-rooms.ts'
import type { Listeners } from '../progress/listeners.ts'
import { scanFirmware } from '../../firmware/scan.ts'
import { type Library, chooseFolders, readLibraryAgain } from '../disk/read-library.ts'
import { markPlatforms, upsertFolder } from '../platform-rows.ts'
import type { PlatformScan } from './scan-platform.ts'
import type { Progress } from '../progress/scan-progress.ts'
import type { UnfinishedRoms } from './unfinished-rows.ts'
import type { ScanType } from '../../matching/scan-types.ts'
import type { ScanPayload } from '../schemas.ts'
import { toScannedPlatform } from '../../matching/sdk-rom.ts'

/** The platform folders of one library that are scanned. */
export interface LibraryPlan { library: Library, folders: string[] }

interface LibraryScanServices {
  platformScan: PlatformScan
  unfinished: UnfinishedRoms
  progress: Progress
  listeners: Listeners
  /** Announces how many entries are about to be read. */
  expect: (count: number) => void
  signal: AbortSignal
}

/** Scans the platform folders of libraries that a payload asks for, or all of them. */
export function createLibraryScan (app: FastifyInstance, config: Config, services: LibraryScanServices) {
  const { platformScan, unfinished, progress, listeners, expect, signal } = services
  const { rules } = app.library
  /** Platforms that are already counted, because a platform in several libraries counts once. */
  const [planned, counted] = [new Set<string>(), new Set<number>()]

  async function countTotals ({ library: { root, structure }, folders }: LibraryPlan): Promise<void> {
    const platforms = folders.filter((folder) => !planned.has(folder))
    for (const folder of platforms) planned.add(folder)
    let total = 0
    for (const folder of folders) {
      // An unreadable folder is reported when it is scanned.
      const items = await readLibraryDirectory(join(root.dir, romsPath(structure, folder))).catch(() => [])
      total += items.filter(({ kind, name }) =>
        kind === 'folder' ? !rules.isExcludedMulti(name) : !rules.isExcludedSingle(name)).length
    }
    expect(total)
    progress.add({ total_platforms: platforms.length, total_roms: total })
  }

  /**
   * Runs work on one folder, whose problems do not stop the scan of other folders. @returns true if no problem occurred
   */
  async function attempt (folder: string, path: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (err) {
      signal.throwIfAborted()
      if (!(err instanceof LibraryUnreadableError) && !(err instanceof PathRefusedError)) throw err
      progress.problem({ platform: folder, path, reason: err.message })
      return false
    }
  }

  /** Scans one platform folder. @returns the platform's id; null if its ROMs could not be read */
  async function scanFolder (folder: string, { root, structure }: Library, type: ScanType): Promise<number | null> {
    const db = app.db
    const { platform: row, isNew } = await app.platforms.ensure(db, folder, systemConfig.of(config))
    const facts = app.platforms.facts(row, systemConfig.of(config))
    const platform = toScannedPlatform(row, facts, root.id, romsPath(structure, folder))
    await upsertFolder(app.db, platform, null)
    progress.platform(platform.name)
    const isIdentified = isPlatformIdentified(facts)
    if (!counted.has(row.id)) {
      progress.add({
        scanned_platforms: 1,
        new_platforms: isNew || row.created_at >= unfinished.startedAt ? 1 : 0,
        identified_platforms: isIdentified ? 1 : 0
      })
    }
    counted.add(row.id)
    let added = 0
    const firmwareFolder = firmwarePath(structure, folder)
    await attempt(folder, firmwareFolder, async () => {
      added = await scanFirmware(platform, {
        db: app.db,
        folder: firmwareFolder,
        library: root,
        rules,
        isThorough: type === 'complete' || type === 'hashes',
        progress,
        signal
      })
    })
    const audience = await app.permissions.findPlatformAudience(row.id)
    listeners.countUrgent(1)
    app.sockets.publish(roomsOf(audience, config), 'scan:scanning_platform', {
      id: row.id, name: row.name, display_name: platform.name, slug: row.slug, fs_slug: row.fs_slug,
      is_identified: isIdentified, new_firmware_count: added
    })
    return await attempt(folder, platform.fs_path, () => platformScan.scanAll(platform)) ? row.id : null
  }

  /**
   * Marks platforms as present or missing. The ROMs of a missing platform keep their rows and are marked missing too.
   */
  async function markPlatformsOf (before: Library): Promise<void> {
    const { root, known, folders, unreadable } = await readLibraryAgain(before, rules)
    const present = new Set(folders)
    const keptSlugs = new Set([...folders, ...before.folders, ...unreadable, ...before.unreadable])
    const presentIds = known.filter((row) => present.has(row.fs_slug)).map((row) => row.id)
    const missingIds = known.filter((row) => !keptSlugs.has(row.fs_slug)).map((row) => row.id)
    await markPlatforms(app.db, root.id, presentIds, missingIds)
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
      await markPlatformsOf(library)
      return ids
    }
  }
}
export type LibraryScan = ReturnType<typeof createLibraryScan>
