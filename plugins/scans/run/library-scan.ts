import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { LibraryUnreadableError, readLibraryDirectory } from '../../library/directory.ts'
import { PathRefusedError } from '../../../core/files/safe-path.ts'
import { type Structure, firmwarePath, romsPath } from '../../library/structure.ts'
import { Platform } from '../../platforms/entities.ts'
import { isPlatformIdentified } from '../../platforms/views.ts'
import { Rom } from '../../roms/entities.ts'
import { roomsOf } from '../tell/announcer.ts'
import { scanFirmware } from '../../firmware/scan.ts'
import { type Library, chooseFolders, readLibraryAgain } from '../disk/library.ts'
import type { PlatformScan } from './platform-scan.ts'
import type { Progress } from '../tell/progress.ts'
import type { Unfinished } from './unfinished-rows.ts'
import type { ScanType } from '../scan-types.ts'
import type { ScanPayload } from '../schemas.ts'
import { toScannedPlatform } from '../identify/sdk-rom.ts'

interface LibraryScanServices {
  platformScan: PlatformScan
  unfinished: Unfinished
  progress: Progress
  signal: AbortSignal
}

/** Scans platform folders: those a payload asks for, else all. */
export function createLibraryScan (app: FastifyInstance, config: Config, services: LibraryScanServices) {
  const { platformScan, unfinished, progress, signal } = services
  const { rules } = app.library

  async function countTotals (structure: Structure, folders: string[]): Promise<void> {
    let total = 0
    for (const folder of folders) {
      // A folder that cannot be read is reported when its turn comes.
      const items = await readLibraryDirectory(join(config.library_dir, romsPath(structure, folder))).catch(() => [])
      total += items.filter(({ kind, name }) =>
        kind === 'folder' ? !rules.isExcludedMulti(name) : !rules.isExcludedSingle(name)).length
    }
    progress.add({ total_platforms: folders.length, total_roms: total })
  }

  /** Something about one folder that is wrong costs that folder alone. @returns whether nothing was. */
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

  /** @returns the platform's id; null when its ROMs could not be read. */
  async function scanFolder (folder: string, structure: Structure, type: ScanType): Promise<number | null> {
    const em = app.orm.em.fork()
    const { platform: row, isNew } = await app.platforms.ensure(em, folder, config.system)
    const facts = app.platforms.facts(row, config.system)
    const platform = toScannedPlatform(row, facts, romsPath(structure, folder))
    progress.platform(platform.name)
    const isIdentified = isPlatformIdentified(facts)
    progress.add({
      scanned_platforms: 1,
      new_platforms: isNew || row.created_at >= unfinished.begunAt ? 1 : 0,
      identified_platforms: isIdentified ? 1 : 0
    })
    let added = 0
    const firmwareFolder = firmwarePath(structure, folder)
    await attempt(folder, firmwareFolder, async () => {
      added = await scanFirmware(platform, {
        em: app.orm.em.fork(),
        folder: firmwareFolder,
        libraryDir: config.library_dir,
        rules,
        isThorough: type === 'complete' || type === 'hashes',
        progress,
        signal
      })
    })
    const audience = await app.permissions.findPlatformAudience(row.id)
    app.sockets.publish(roomsOf(audience, config), 'scan:scanning_platform', {
      id: row.id, name: row.name, display_name: platform.name, slug: row.slug, fs_slug: row.fs_slug,
      is_identified: isIdentified, new_firmware_count: added
    })
    return await attempt(folder, platform.fs_path, () => platformScan.scanAll(platform)) ? row.id : null
  }

  /** A platform folder that is gone takes its ROMs along: rows stay, marked. */
  async function markPlatforms (known: readonly Platform[], before: Library): Promise<void> {
    const { folders, unclear } = await readLibraryAgain(config, rules, known, before)
    const em = app.orm.em.fork()
    const present = new Set(folders)
    const kept = new Set([...folders, ...before.folders, ...unclear, ...before.unclear])
    const there = known.filter((row) => present.has(row.fs_slug)).map((row) => row.id)
    const gone = known.filter((row) => !kept.has(row.fs_slug)).map((row) => row.id)
    await em.nativeUpdate(Platform, { id: there, missing_from_fs: true }, { missing_from_fs: false })
    await em.nativeUpdate(Platform, { id: gone, missing_from_fs: false }, { missing_from_fs: true })
    const marked = { missing_from_fs: true, updated_at: new Date() }
    await em.nativeUpdate(Rom, { platform: gone, missing_from_fs: false }, marked)
  }

  /** @returns the ids of the scanned platforms, without those that could not be read */
  return async function scanLibrary (
    payload: ScanPayload, library: Library, known: readonly Platform[]
  ): Promise<number[]> {
    const old = new Set(known.filter((platform) => platform.created_at < unfinished.since)
      .map((platform) => platform.fs_slug))
    const chosen = chooseFolders(payload, library.folders, known)
      .filter((folder) => payload.type !== 'new_platforms' || !old.has(folder))
    await countTotals(library.structure, chosen)
    const ids: number[] = []
    for (const folder of chosen) {
      signal.throwIfAborted()
      const id = await scanFolder(folder, library.structure, payload.type)
      if (id === null) await readLibraryAgain(config, rules, known, library)
      else ids.push(id)
    }
    await markPlatforms(known, library)
    return ids
  }
}
