import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { ApiError, notFound } from '../../core/errors.ts'
import {
  PathRefusedError, isNothingThere, openInside, resolveInside, safeRelativePath
} from '../../core/files/safe-path.ts'
import { findRootProblem } from '../library/root-problem.ts'

/** A file of the library as the database knows it. */
export interface StoredFile {
  library_id: number
  file_name: string
  /** The folder, relative to the library. */
  file_path: string
  /** The platform's ROM folder, relative to the library. */
  fs_path: string
  /** The platform's own folder name. */
  platform_fs_slug: string
}

/** `roms/snes` or `snes/roms`: only a folder of the library's own layout may be a link to elsewhere. */
function isPlatformFolder (path: string, fsSlug: string): boolean {
  const parts = path.split('/')
  return parts.length === 2 && parts.includes(fsSlug)
}

/** A link leads where it may when that is in the library, or in what the platform's folder itself is a link to. */
async function withinLibrary<T> (
  libraryDir: string, file: Pick<StoredFile, 'fs_path' | 'platform_fs_slug'>, path: string,
  work: (base: string, path: string) => Promise<T>
): Promise<T> {
  try {
    return await work(libraryDir, path)
  } catch (err) {
    const folder = safeRelativePath(file.fs_path)
    const isBelow = isPlatformFolder(folder, file.platform_fs_slug) && `${path}/`.startsWith(`${folder}/`)
    if (!(err instanceof PathRefusedError) || !isBelow) throw err
    return await work(join(libraryDir, folder), path.slice(folder.length + 1))
  }
}

/**
 * Where a file or folder itself lies, without symbolic links on the way to it; it may be one.
 *
 * @throws PathRefusedError when that is neither in the library nor in its platform's folder
 */
export async function resolveStoredFile (
  libraryDir: string, file: StoredFile
): Promise<{ folder: string, name: string }> {
  const path = safeRelativePath(`${file.file_path}/${file.file_name}`)
  return { folder: await withinLibrary(libraryDir, file, dirname(path), resolveInside), name: basename(path) }
}

/**
 * Opens a file for reading; the caller closes the handle.
 *
 * @param missing what is said when it is not on disk
 * @throws ApiError NOT_FOUND naming the file when it is not on disk, or lies where it must not · UNAVAILABLE when its
 * library cannot be read
 */
export async function openStoredFile (
  library: Pick<FastifyInstance['library'], 'get'>, file: StoredFile,
  missing = `File '${file.file_name}' is not in the library any more; scan its platform`
): Promise<FileHandle> {
  const root = await library.get(file.library_id)
  try {
    return await withinLibrary(root.dir, file, safeRelativePath(`${file.file_path}/${file.file_name}`), openInside)
  } catch (err) {
    if (!isNothingThere(err)) throw err
    if (await findRootProblem(root.dir) === null) throw notFound(missing)
    throw new ApiError('UNAVAILABLE', `The library '${root.name}' cannot be read now; mount its disk, then try again`, { cause: err })
  }
}
