import { join } from 'node:path'
import type { Config } from '../../core/config.ts'
import type { ExclusionRules } from '../../core/library/exclusions.ts'
import { type Structure, detectStructure, listPlatformFolders } from '../../core/library/structure.ts'
import type { Platform } from '../platforms/entities.ts'
import type { Progress } from './progress.ts'
import type { ScanPayload } from './schemas.ts'

/** The library as it lies on disk now. */
export interface Library {
  structure: Structure
  folders: string[]
  /** Folders that could not be looked into: nobody knows whether they are there. */
  unclear: ReadonlySet<string>
}

/** An empty or vanished library must not read as "everything was deleted". */
function checkNotVanished (config: Config, folders: string[], known: readonly Platform[]): void {
  const present = known.filter((platform) => !platform.missing_from_fs)
  if (folders.length > 0 || present.length === 0) return
  throw new Error(`The library ${config.library_dir} holds no platform folders any more, but ${present.length} platforms ` +
    'are known. Nothing was marked missing. Check that its disk is mounted and that SVC_LIBRARY_DIR is right.')
}

/** @throws Error when there is no library, or it vanished; LibraryUnreadableError when it cannot be read. */
export async function readLibrary (
  config: Config, rules: ExclusionRules, known: readonly Platform[], progress: Progress
): Promise<Library> {
  const structure = await detectStructure(config.library_dir, config.filesystem, rules)
  if (structure === null) {
    checkNotVanished(config, [], known)
    throw new Error(`The library ${config.library_dir} holds no platform folders. Put ROMs into ` +
      `${join(config.library_dir, config.filesystem.roms_folder)}/<platform>/ and scan again.`)
  }
  const { platforms, problems } = await listPlatformFolders(config.library_dir, structure, rules)
  for (const { path, reason } of problems) progress.problem({ platform: path, path, reason })
  checkNotVanished(config, platforms, known)
  return { structure, folders: platforms, unclear: new Set(problems.flatMap(({ path }) => path.split('/'))) }
}

/** Chooses the folders a payload asks for; ids and names that do not exist are ignored. */
export function chooseFolders (payload: ScanPayload, folders: string[], known: readonly Platform[]): string[] {
  if (payload.platforms.length === 0 && payload.platform_fs_slugs.length === 0) return folders
  const byId = known.filter((platform) => payload.platforms.includes(platform.id)).map((platform) => platform.fs_slug)
  const wanted = new Set([...byId, ...payload.platform_fs_slugs])
  return folders.filter((folder) => wanted.has(folder))
}
