import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../core/config/config.ts'
import { type Problem, adviceOf, isFolder } from '../../library/directory.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import { ApiError } from '../../../core/errors.ts'
import { errorCode } from '../../../core/files/fs-error.ts'
import { type Structure, detectStructure, listPlatformFolders, romsPath } from '../../library/structure.ts'
import type { Platform } from '../../platforms/entities.ts'
import type { Progress } from '../tell/progress.ts'
import type { ScanPayload, ScanProblem } from '../schemas.ts'

/** The library as it lies on disk now. */
export interface Library {
  structure: Structure
  folders: string[]
  /** Folders that could not be looked into: nobody knows whether they are there. */
  unclear: ReadonlySet<string>
}

const REMEDY = 'mount its disk, or delete this too when the games were removed on purpose'

/** An empty or vanished library must not read as "everything was deleted". */
function checkNotVanished (config: Config, folders: string[], known: readonly Platform[]): void {
  const present = known.filter((platform) => !platform.missing_from_fs)
  if (folders.length > 0 || present.length === 0) return
  throw new ApiError('LIBRARY_EMPTY', `The library ${config.library_dir} holds no platform folders any more, but ` +
    `${present.length} platforms are known. Nothing was marked missing. Check that its disk is mounted and that SVC_LIBRARY_DIR is right.`)
}

async function isDangling (path: string): Promise<boolean> {
  return (await lstat(path)).isSymbolicLink() && !await isFolder(path)
}

/** What a disk that is not mounted leaves at one path; null when there is nothing to see. */
async function findRemainsAt (libraryDir: string, path: string, isParent: boolean): Promise<string | null> {
  const real = join(libraryDir, path)
  try {
    if (await isDangling(real)) return `the symbolic link leads to no folder; ${REMEDY}`
    return isParent && (await readdir(real)).length === 0 ? `the folder is empty; ${REMEDY}` : null
  } catch (err) {
    return ['ENOENT', 'ENOTDIR'].includes(errorCode(err)) ? null : adviceOf(err)
  }
}

/** What is left of a platform whose folder of ROMs is not there; null when it was deleted. */
async function findRemains (libraryDir: string, structure: Structure, fsSlug: string): Promise<Problem | null> {
  const roms = romsPath(structure, fsSlug)
  for (const path of structure.kind === 'A' ? [roms] : [fsSlug, roms]) {
    const reason = await findRemainsAt(libraryDir, path, path === fsSlug)
    if (reason !== null) return { path, reason }
  }
  return null
}

async function list (config: Config, rules: ExclusionRules) {
  const structure = await detectStructure(config.library_dir, config.filesystem, rules)
  return structure === null ? null : { structure, ...await listPlatformFolders(config.library_dir, structure, rules) }
}
type Listed = NonNullable<Awaited<ReturnType<typeof list>>>

/** Platforms that are known and not there may be deleted, or out of reach. */
async function sortOut (
  config: Config, rules: ExclusionRules, known: readonly Platform[], { structure, platforms, problems }: Listed
): Promise<Library & { problems: ScanProblem[] }> {
  const found = problems.map((problem) => ({ platform: problem.path, ...problem }))
  const there = new Set(platforms)
  for (const { fs_slug: fsSlug, missing_from_fs: isMissing } of known) {
    if (isMissing || there.has(fsSlug) || rules.isExcludedPlatform(fsSlug)) continue
    const remains = await findRemains(config.library_dir, structure, fsSlug)
    if (remains !== null) found.push({ platform: fsSlug, ...remains })
  }
  const unclear = new Set(found.flatMap(({ path }) => path.split('/')))
  return { structure, folders: platforms, unclear, problems: found }
}

/** @throws ApiError LIBRARY_EMPTY when it is none, or vanished; LibraryUnreadableError when it cannot be read. */
export async function readLibrary (
  config: Config, rules: ExclusionRules, known: readonly Platform[], progress: Progress
): Promise<Library> {
  const listed = await list(config, rules)
  checkNotVanished(config, listed?.platforms ?? [], known)
  if (listed === null) {
    throw new ApiError('LIBRARY_EMPTY', `The library ${config.library_dir} holds no platform folders. Put ROMs into ` +
      `${join(config.library_dir, config.filesystem.roms_folder)}/<platform>/ and scan again.`)
  }
  const { problems, ...library } = await sortOut(config, rules, known, listed)
  for (const problem of problems) progress.problem(problem)
  return library
}

/**
 * A second look at a library that held platforms a while ago.
 *
 * @throws ApiError LIBRARY_EMPTY when it vanished; LibraryUnreadableError when it cannot be read.
 */
export async function readLibraryAgain (
  config: Config, rules: ExclusionRules, known: readonly Platform[], before: Library
): Promise<Library> {
  const listed = await list(config, rules)
  if (listed !== null && listed.platforms.length >= Math.min(1, before.folders.length)) {
    return await sortOut(config, rules, known, listed)
  }
  throw new ApiError('LIBRARY_EMPTY', `The library ${config.library_dir} vanished while it was scanned. Nothing was ` +
    'marked missing. Check that its disk is mounted, then scan again.')
}

/** Chooses the folders a payload asks for; ids and names that do not exist are ignored. */
export function chooseFolders (payload: ScanPayload, folders: string[], known: readonly Platform[]): string[] {
  if (payload.platforms.length === 0 && payload.platform_fs_slugs.length === 0) return folders
  const byId = known.filter((platform) => payload.platforms.includes(platform.id)).map((platform) => platform.fs_slug)
  const wanted = new Set([...byId, ...payload.platform_fs_slugs])
  return folders.filter((folder) => wanted.has(folder))
}
