import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { ApiError, notFound } from '../../../core/errors.ts'
import { findRootProblem } from '../../library/root-problem.ts'
import { PathRefusedError, isNothingThere, openInside, safeRelativePath } from '../../../core/files/safe-path.ts'

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
async function openLinked (libraryDir: string, file: StoredFile, path: string): Promise<FileHandle> {
  try {
    return await openInside(libraryDir, path)
  } catch (err) {
    const folder = safeRelativePath(file.fs_path)
    const isBelow = isPlatformFolder(folder, file.platform_fs_slug) && path.startsWith(`${folder}/`)
    if (!(err instanceof PathRefusedError) || !isBelow) throw err
    return await openInside(join(libraryDir, folder), path.slice(folder.length + 1))
  }
}

/**
 * Opens a file for reading; the caller closes the handle.
 *
 * @throws ApiError NOT_FOUND naming the file when it is not on disk, or lies where it must not · UNAVAILABLE when its
 * library cannot be read
 */
export async function openStoredFile (library: Pick<FastifyInstance['library'], 'get'>, file: StoredFile): Promise<FileHandle> {
  const root = await library.get(file.library_id)
  try {
    return await openLinked(root.dir, file, safeRelativePath(`${file.file_path}/${file.file_name}`))
  } catch (err) {
    if (!isNothingThere(err)) throw err
    if (await findRootProblem(root.dir) === null) {
      throw notFound(`File '${file.file_name}' is not in the library any more; scan its platform`)
    }
    throw new ApiError('UNAVAILABLE', `The library '${root.name}' cannot be read now; mount its disk, then try again`, { cause: err })
  }
}
