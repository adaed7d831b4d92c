import { join } from 'node:path'
import { badRequest, conflict } from '../../core/errors.ts'
import { LibraryUnreadableError, isFolder } from './directory.ts'
import { describeReadOnly } from './read-only.ts'
import type { LibraryRoot } from './roots.ts'
import type { Library } from './service.ts'
import { type Structure, romsPath } from './structure.ts'

/** A library and its layout; null while it contains no ROM folder. */
export interface LibraryLayout { root: LibraryRoot, structure: Structure | null }

/**
 * Reads facts about each readable library.
 *
 * @throws {LibraryUnreadableError} if no library is readable
 */
async function mapReadable<T> (library: Library, read: (layout: LibraryLayout) => Promise<T>): Promise<T[]> {
  const found: T[] = []
  let problem: LibraryUnreadableError | null = null
  for (const root of await library.list()) {
    try {
      found.push(await read({ root, structure: await library.detectStructure(root) }))
    } catch (err) {
      if (!(err instanceof LibraryUnreadableError)) throw err
      problem ??= err
    }
  }
  if (found.length === 0 && problem !== null) throw problem
  return found
}

/** A library to write into. */
export interface WritableLayout { root: LibraryRoot, structure: Structure }

/**
 * Returns the layout of a library.
 *
 * @throws ApiError UNAVAILABLE while it is not mounted · {LibraryUnreadableError}
 */
async function openLayout (library: Library, root: LibraryRoot): Promise<WritableLayout> {
  await library.requireMounted(root)
  return { root, structure: await library.detectStructure(root) ?? library.emptyStructure }
}

/**
 * Returns the library with an id, to write into.
 *
 * @throws ApiError BAD_REQUEST if there is none · CONFLICT if it is read-only · UNAVAILABLE while it is not mounted
 * @throws {LibraryUnreadableError}
 */
export async function getLayout (library: Library, id: number): Promise<WritableLayout> {
  const roots = await library.list()
  if (!roots.some((root) => root.id === id)) {
    throw badRequest(`There is no library with ID ${id}; send one of ${roots.map((root) => root.id).join(', ')}`)
  }
  return await openLayout(library, await library.getWritable(id))
}

/**
 * Returns the library for writing files of a platform. The first that contained it at its last scan precedes the first
 * that contains its ROM folder, then the first mounted one. Skips read-only libraries.
 *
 * @throws ApiError UNAVAILABLE while the library of the platform is not mounted · CONFLICT if all others are read-only
 * @throws {LibraryUnreadableError} if no library is readable
 */
export async function findLayout (library: Library, fsSlug: string): Promise<WritableLayout> {
  const idsWithFolder = await library.listHomes(fsSlug)
  const writableHome = (await library.list()).find((root) => root.is_writable && idsWithFolder.has(root.id))
  if (writableHome !== undefined) return await openLayout(library, writableHome)
  const layouts = await mapReadable(library, async ({ root, structure }) => ({
    root,
    isMounted: await library.findProblem(root) === null,
    hasFolder: structure !== null && await isFolder(join(root.dir, romsPath(structure, fsSlug)))
  }))
  const writable = layouts.filter(({ root }) => root.is_writable)
  const layout = writable.find(({ hasFolder }) => hasFolder) ??
    writable.find(({ isMounted }) => isMounted) ?? writable[0]
  if (layout !== undefined) return await openLayout(library, layout.root)
  throw conflict(layouts.map(({ root }) => describeReadOnly(root)).join('. '))
}

/**
 * Lists the platform folders of all readable libraries.
 *
 * @throws {LibraryUnreadableError} if no library is readable
 */
export async function listAllFolders (library: Library): Promise<string[]> {
  const folders = await mapReadable(library, async ({ root, structure }) =>
    structure === null ? [] : (await library.listPlatformFolders(root, structure)).platforms)
  return [...new Set(folders.flat())]
}

/** A folder of ROMs, relative to its library. */
export interface RomFolder { root: LibraryRoot, path: string }

/**
 * Lists the ROM folders of all libraries that are readable and writable.
 *
 * @throws {LibraryUnreadableError}
 */
export async function listWritableFolders (library: Library): Promise<RomFolder[]> {
  const folders = await mapReadable(library, async ({ root, structure }) => {
    if (structure === null || !root.is_writable) return []
    const { platforms } = await library.listPlatformFolders(root, structure)
    return platforms.map((fsSlug) => ({ root, path: romsPath(structure, fsSlug) }))
  })
  return folders.flat()
}
