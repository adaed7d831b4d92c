import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { createFolder } from '../../../core/files/create-folder.ts'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import { errorCode } from '../../../core/files/fs-error.ts'
import { isPresent, resolveInside } from '../../../core/files/safe-path.ts'
import { linkOrCopy } from '../files/link-or-copy.ts'
import { temporaryPath } from '../text-file.ts'

/** The content of a medium: a file, an object on another machine, or bytes that result from a conversion. */
export type Content = { file: string } | { bytes: Buffer } | { size: number, read: () => Readable }

/** A folder of media beside the ROMs. Its first file creates it. */
export interface MediaFolder {
  /** Relative to the platform folder. */
  path: string
  /** Absolute, without symbolic links. */
  real: string
  names: Set<string>
  exists: boolean
  /** True after a write failed, because the folder is not writable. */
  isClosed: boolean
}

/** @throws PathRefusedError if a symbolic link leads out of the platform's folder */
export async function openMediaFolder (root: string, path: string): Promise<MediaFolder> {
  const real = await resolveInside(root, path)
  try {
    return { path, real, names: new Set(await readdir(real)), exists: true, isClosed: false }
  } catch (err) {
    if (errorCode(err) !== 'ENOENT') throw err
    return { path, real, names: new Set(), exists: false, isClosed: false }
  }
}

/**
 * Publishes a file in the folder in one step.
 *
 * @param replaces true if an existing file of that name may be replaced
 * @returns false if a file of that name exists and must stay
 */
export async function publishFile (
  folder: MediaFolder, name: string, content: Content, replaces: boolean
): Promise<boolean> {
  const target = join(folder.real, name)
  if (!folder.exists) await createFolder(folder.real)
  folder.exists = true
  // On a disk that ignores case, the listing can miss the existing name.
  if (!replaces && await isPresent(target)) return false
  const temporary = temporaryPath(folder.real)
  try {
    if ('file' in content) await linkOrCopy(content.file, temporary)
    else {
      const [size, data] = 'bytes' in content ? [content.bytes.length, content.bytes] : [content.size, content.read()]
      await requireFreeSpace(folder.real, size)
      await writeFile(temporary, data, { flag: 'wx' })
    }
    await rename(temporary, target)
  } finally {
    await rm(temporary, { force: true })
  }
  folder.names.add(name)
  return true
}
