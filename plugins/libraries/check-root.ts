import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { findFolderRefusal } from '../../core/config/library-folders.ts'
import { badRequest, conflict } from '../../core/errors.ts'
import type { LibraryRoot } from '../library/roots.ts'

async function requireFolder (dir: string): Promise<void> {
  const stats = await stat(dir).catch(() => null)
  if (stats === null) throw badRequest(`There is no folder '${dir}' that the server can see; create it, or mount its disk, first`)
  if (!stats.isDirectory()) throw badRequest(`'${dir}' is not a folder; give the root folder of the library`)
}

/**
 * Checks a new root folder.
 *
 * @param otherRoots the roots of the other libraries
 * @throws ApiError BAD_REQUEST · CONFLICT
 */
export async function checkRoot (path: string, otherRoots: readonly LibraryRoot[], dataDir: string): Promise<void> {
  if (!isAbsolute(path)) throw badRequest(`The path '${path}' is not absolute; give the absolute path on the server`)
  await requireFolder(resolve(path))
  const refusal = await findFolderRefusal(path, otherRoots, dataDir)
  if (refusal !== null) throw refusal.isTaken ? conflict(refusal.reason) : badRequest(refusal.reason)
}
