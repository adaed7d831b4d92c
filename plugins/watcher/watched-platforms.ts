import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LibraryUnreadableError, realLibraryDirectory } from '../library/directory.ts'
import type { ExclusionRules } from '../library/exclusions.ts'
import { isInside } from '../../core/files/safe-path.ts'
import {
  type FilesystemSettings, detectStructure, firmwarePath, listFolders, listPlatformFolders, romsPath
} from '../library/structure.ts'
import type { WatchedFolder } from './watched-folders.ts'

/** A platform on disk. */
export interface PlatformOnDisk {
  fsSlug: string
  /** The folders of the platform, relative to the library. */
  paths: readonly [roms: string, firmware: string]
  /** Changes when another folder replaces one of them, as mounting a disk there does. */
  identity: string
}

/** The folders above the platforms' own folders. */
export interface ParentFolders {
  platforms: ReadonlyMap<string, PlatformOnDisk>
  /** Folders in which platforms appear and vanish, relative to the library; `''` is the library itself. */
  paths: ReadonlySet<string>
}

/**
 * Returns the identity of a folder, which differs from other folders at the same path; empty if the folder cannot be
 * seen.
 */
export async function identify (path: string): Promise<string> {
  const stats = await stat(path, { bigint: true }).catch(() => null)
  return stats === null ? '' : `${stats.dev}:${stats.ino}`
}

/** Reads the platforms and upper folders of a library. @throws {LibraryUnreadableError} */
export async function readParentFolders (
  libraryDir: string, settings: FilesystemSettings, rules: ExclusionRules
): Promise<ParentFolders> {
  const platforms = new Map<string, PlatformOnDisk>()
  const structure = await detectStructure(libraryDir, settings, rules)
  if (structure === null) return { platforms, paths: new Set(['']) }
  const parents = new Set([''])
  if (structure.kind === 'A') parents.add(structure.romsFolder)
  // Each of these folders becomes a platform as soon as it gets a folder of ROMs.
  else for (const name of (await listFolders(libraryDir, '', rules)).platforms) parents.add(name)
  if (structure.firmwareKind === 'A') parents.add(structure.firmwareFolder)
  for (const fsSlug of (await listPlatformFolders(libraryDir, structure, rules)).platforms) {
    const paths = [romsPath(structure, fsSlug), firmwarePath(structure, fsSlug)] as const
    for (const path of paths) parents.add(dirname(path))
    const identities = await Promise.all(paths.map((path) => identify(join(libraryDir, path))))
    platforms.set(fsSlug, { fsSlug, paths, identity: identities.join(' ') })
  }
  return { platforms, paths: parents }
}

/**
 * Returns the platforms in whose folders entries appeared or vanished after a time.
 *
 * @param time in milliseconds since 1970
 */
export async function listChangedAfter (
  libraryDir: string, platforms: Iterable<PlatformOnDisk>, time: number
): Promise<string[]> {
  const changed: string[] = []
  for (const { fsSlug, paths } of platforms) {
    const facts = await Promise.all(paths.map((path) => stat(join(libraryDir, path)).catch(() => null)))
    if (facts.some((one) => one !== null && one.mtimeMs > time)) changed.push(fsSlug)
  }
  return changed
}

/** Returns the folders of a platform to watch, without those that a scan could not read. */
export async function openPlatform (libraryDir: string, platform: PlatformOnDisk): Promise<WatchedFolder[]> {
  const folders: WatchedFolder[] = []
  const library = await realLibraryDirectory(libraryDir)
  for (const [index, path] of platform.paths.entries()) {
    try {
      const real = await realLibraryDirectory(join(libraryDir, path))
      // Skip such a link, because it makes the whole library part of one platform. Scans refuse it as well.
      if (isInside(real, library)) continue
      folders.push({
        name: platform.fsSlug, kind: 'folder', isLink: false, path, real, below: [], fsSlug: platform.fsSlug,
        content: index === 0 ? 'roms' : 'firmware', roots: [library, real]
      })
    } catch (err) {
      if (!(err instanceof LibraryUnreadableError)) throw err
    }
  }
  return folders
}
