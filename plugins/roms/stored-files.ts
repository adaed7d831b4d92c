import type { FileHandle } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { ApiError, notFound } from '../../core/errors.ts'
import { isNothingThere, openInside, resolveInside, safeRelativePath } from '../../core/files/safe-path.ts'
import { withinLibrary } from '../library/linked-folders.ts'
import { findRootProblem } from '../library/root-problem.ts'

/** A file of the library as the database describes it. */
export interface StoredFile {
  library_id: number
  file_name: string
  /** The folder, relative to the library. */
  file_path: string
  /** The platform's ROM folder, relative to the library. */
  fs_path: string
  /** The name of the platform's own folder. */
  platform_fs_slug: string
}

/**
 * True for `roms/snes` or `snes/roms`: only a platform folder of the library's layout may be a link out of the library.
 */
function isPlatformFolder (path: string, fsSlug: string): boolean {
  const parts = path.split('/')
  return parts.length === 2 && parts.includes(fsSlug)
}

/** Returns a function that finds the platform folder of a file for the paths in it. */
const findFolderOf = ({ fs_path: fsPath, platform_fs_slug: slug }: StoredFile) => (path: string): string | null => {
  const folder = safeRelativePath(fsPath)
  return isPlatformFolder(folder, slug) && `${path}/`.startsWith(`${folder}/`) ? folder : null
}

/**
 * Resolves the symbolic links in the folder of a file; the last part of the path may itself be a link.
 *
 * @throws PathRefusedError if the folder is neither in the library nor in the platform's folder
 */
export async function resolveStoredFile (
  libraryDir: string, file: StoredFile
): Promise<{ folder: string, name: string }> {
  const path = safeRelativePath(`${file.file_path}/${file.file_name}`)
  const folder = await withinLibrary(libraryDir, dirname(path), findFolderOf(file), resolveInside)
  return { folder, name: basename(path) }
}

/**
 * Opens a file for reading; the caller closes the handle.
 *
 * @param missing the message if the file is not on disk
 * @throws ApiError NOT_FOUND with the file's name if it is not on disk, or outside the allowed folders · UNAVAILABLE if
 * its library cannot be read
 */
export async function openStoredFile (
  library: Pick<FastifyInstance['library'], 'get'>, file: StoredFile,
  missing = `File '${file.file_name}' is not in the library any more; scan its platform`
): Promise<FileHandle> {
  const root = await library.get(file.library_id)
  try {
    const path = safeRelativePath(`${file.file_path}/${file.file_name}`)
    return await withinLibrary(root.dir, path, findFolderOf(file), openInside)
  } catch (err) {
    if (!isNothingThere(err)) throw err
    if (await findRootProblem(root.dir) === null) throw notFound(missing)
    throw new ApiError('UNAVAILABLE', `The library '${root.name}' cannot be read now; mount its disk, then try again`, { cause: err })
  }
}
