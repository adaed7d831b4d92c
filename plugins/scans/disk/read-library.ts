import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { LibraryUnreadableError, type Problem, adviceOf, isFolder } from '../../library/directory.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import { ApiError } from '../../../core/errors.ts'
import { isNotFoundError } from '../../../core/files/fs-error.ts'
import { libraryEmpty } from '../../library/errors.ts'
import type { LibraryRoot } from '../../library/roots.ts'
import { type Structure, detectStructure, listFolders, listPlatformFolders, romsPath } from '../../library/structure.ts'
import type { Progress } from '../progress/scan-progress.ts'
import type { ScanProblem } from '../../matching/scan-types.ts'
import type { ScanPayload } from '../schemas.ts'
import type { KnownPlatform } from '../platform-rows.ts'

/** A snapshot of a library on disk. */
export interface Library {
  root: LibraryRoot
  /** The platforms that have, or once had, a folder in this library. */
  known: readonly KnownPlatform[]
  structure: Structure
  folders: string[]
  /** Folders that could not be read, so that their platforms may exist. */
  unreadable: ReadonlySet<string>
}

const REMEDY = 'mount its disk, or delete this too if you deleted the games on purpose'

/** Refuses an empty or vanished library, because all its games would count as deleted. */
function checkNotVanished (root: LibraryRoot, folders: string[], known: readonly KnownPlatform[]): void {
  const present = known.filter((platform) => !platform.missing_from_fs)
  if (folders.length > 0 || present.length === 0) return
  throw libraryEmpty(`The library ${root.dir} has no platform folders any more, but ` +
    `${present.length} platforms of it are stored. Nothing was marked missing. Check that its disk is mounted and that SVC_LIBRARY_DIR is correct.`)
}

async function isDangling (path: string): Promise<boolean> {
  return (await lstat(path)).isSymbolicLink() && !await isFolder(path)
}

/** Describes the remains of an unmounted disk at one path; null if there are none. */
async function findRemainsAt (libraryDir: string, path: string, isParent: boolean): Promise<string | null> {
  const real = join(libraryDir, path)
  try {
    if (await isDangling(real)) return `the target of the symbolic link is missing; ${REMEDY}`
    return isParent && (await readdir(real)).length === 0 ? `the folder is empty; ${REMEDY}` : null
  } catch (err) {
    return isNotFoundError(err) ? null : adviceOf(err)
  }
}

/** Finds the remains of a platform whose ROM folder does not exist; null if the platform was deleted. */
async function findRemains (libraryDir: string, structure: Structure, fsSlug: string): Promise<Problem | null> {
  const roms = romsPath(structure, fsSlug)
  for (const path of structure.kind === 'A' ? [roms] : [fsSlug, roms]) {
    const reason = await findRemainsAt(libraryDir, path, path === fsSlug)
    if (reason !== null) return { path, reason }
  }
  return null
}

async function list ({ dir, filesystem }: LibraryRoot, rules: ExclusionRules) {
  const structure = await detectStructure(dir, filesystem, rules)
  return structure === null ? null : { structure, ...await listPlatformFolders(dir, structure, rules) }
}
type ListedLibrary = NonNullable<Awaited<ReturnType<typeof list>>>

/** Reports stored platforms whose folder is not there but may be out of reach; the other ones are deleted. */
async function reportMissing (
  root: LibraryRoot, rules: ExclusionRules, known: readonly KnownPlatform[], {
    structure, platforms, problems
  }: ListedLibrary
): Promise<Library & { problems: ScanProblem[] }> {
  const found = problems.map((problem) => ({ platform: problem.path, ...problem }))
  const presentSlugs = new Set(platforms)
  for (const { fs_slug: fsSlug, missing_from_fs: isMissing } of known) {
    if (isMissing || presentSlugs.has(fsSlug) || rules.isExcludedPlatform(fsSlug)) continue
    const remainsProblem = await findRemains(root.dir, structure, fsSlug)
    if (remainsProblem !== null) found.push({ platform: fsSlug, ...remainsProblem })
  }
  const unreadable = new Set(found.flatMap(({ path }) => path.split('/')))
  return { root, known, structure, folders: platforms, unreadable, problems: found }
}

/** Returns advice on platform folders that lie directly in the library; empty for a library without folders. */
async function adviseOnLayout (
  { dir, filesystem: { roms_folder: romsFolder } }: LibraryRoot, rules: ExclusionRules
): Promise<string> {
  const { platforms } = await listFolders(dir, '', rules)
  if (platforms.length === 0) return ''
  return ` If its folders are platforms, such as ${JSON.stringify(platforms[0])}, as in the ROM folder of ES-DE, create a library ` +
    `whose "${romsFolder}" is a link to it: mkdir library && ln -s "${dir}" library/${romsFolder}, then set SVC_LIBRARY_DIR to the library. ` +
    `In a container, mount the folder at /library/${romsFolder}.`
}

/**
 * Reads the folders of a library.
 *
 * @throws ApiError LIBRARY_EMPTY if it has no platform folders, or vanished; LibraryUnreadableError if it cannot be
 * read.
 */
export async function readLibrary (
  root: LibraryRoot, rules: ExclusionRules, known: readonly KnownPlatform[], progress: Pick<Progress, 'problem'>
): Promise<Library> {
  const listed = await list(root, rules)
  checkNotVanished(root, listed?.platforms ?? [], known)
  if (listed === null) {
    throw libraryEmpty(`The library ${root.dir} has no platform folders. Put ROMs into ` +
      `${join(root.dir, root.filesystem.roms_folder)}/<platform>/ and scan again.${await adviseOnLayout(root, rules)}`)
  }
  const { problems, ...library } = await reportMissing(root, rules, known, listed)
  for (const problem of problems) progress.problem(problem)
  return library
}

/**
 * Reads a library again that held platforms a while ago.
 *
 * @throws ApiError LIBRARY_EMPTY if it vanished; LibraryUnreadableError if it cannot be read.
 */
export async function readLibraryAgain (before: Library, rules: ExclusionRules): Promise<Library> {
  const { root, known } = before
  const listed = await list(root, rules)
  if (listed !== null && listed.platforms.length >= Math.min(1, before.folders.length)) {
    return await reportMissing(root, rules, known, listed)
  }
  throw libraryEmpty(`The library ${root.dir} disappeared during the scan. Nothing was ` +
    'marked missing. Check that its disk is mounted, then scan again.')
}

/**
 * Chooses the folders that a payload asks for; names that do not exist are ignored.
 *
 * @param named the folders of the platforms that the payload names by id
 */
export function chooseFolders (payload: ScanPayload, named: readonly string[], folders: string[]): string[] {
  if (payload.platforms.length === 0 && payload.platform_fs_slugs.length === 0) return folders
  const wanted = new Set([...named, ...payload.platform_fs_slugs])
  return folders.filter((folder) => wanted.has(folder))
}

/** True if a library is out of reach or empty, so that nothing may be concluded from its state. */
export const isOutOfReach = (err: unknown): err is Error =>
  err instanceof LibraryUnreadableError || (err instanceof ApiError && err.code === 'LIBRARY_EMPTY')
