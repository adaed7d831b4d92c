import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { badRequest, conflict } from '../../core/errors.ts'
import { isInside } from '../../core/files/safe-path.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'
import type { LibraryRoot } from '../library/roots.ts'

/** Folders of the system, including everything inside them. */
const SYSTEM_TREES = ['/bin', '/boot', '/dev', '/etc', '/lib', '/lib32', '/lib64', '/proc', '/sbin', '/sys', '/usr',
  '/Library', '/System', '/private/etc', 'C:\\Program Files', 'C:\\Program Files (x86)', 'C:\\ProgramData', 'C:\\Windows']
/** Folders that contain the folders of people or programs. */
const SHARED_FOLDERS = ['/', '/home', '/opt', '/private', '/root', '/run', '/tmp', '/Users', '/var', '/var/cache', '/var/lib', '/var/log', 'C:\\', 'C:\\Users']
/** Folders with code in the server's folder, which may be a checkout with other folders beside them. */
const CODE_FOLDERS = ['channels', 'core', 'exporters', 'node_modules', 'plugins', 'providers', 'sdk']

const isAt = (folders: readonly string[], dir: string) => folders.includes(dir)
const isBelow = (trees: readonly string[], dir: string) => trees.some((tree) => isInside(tree, dir))

/** Returns the real path of a folder; a missing folder is compared by its name. */
const readRealPath = (dir: string): Promise<string> => realpath(dir).catch(() => dir)

async function readFolder (path: string): Promise<string> {
  const dir = resolve(path)
  const stats = await stat(dir).catch(() => null)
  if (stats === null) throw badRequest(`There is no folder '${dir}' that the server may see; make it, or mount its disk, first`)
  if (!stats.isDirectory()) throw badRequest(`'${dir}' is not a folder; give the root folder of the library`)
  return await readRealPath(dir)
}

async function refuseOwnFolders (dir: string, real: string, dataDir: string): Promise<void> {
  const data = await readRealPath(dataDir)
  // The only library of a new server is in its data folder.
  if (isInside(join(data, 'library'), real)) return
  const server = await readRealPath(SERVER_DIR)
  const own = [data, ...CODE_FOLDERS.map((name) => join(server, name))]
    .find((folder) => isInside(folder, real) || isInside(real, folder))
  if (own === undefined) return
  throw badRequest(`'${dir}' overlaps with '${own}', where the server keeps its own files; choose a folder outside of it`)
}

/**
 * Checks a new root folder by its path without symbolic links, because the server writes, serves and deletes files in
 * it.
 *
 * @param others the roots of the other libraries; a folder of one in another would belong to both
 * @throws ApiError BAD_REQUEST · CONFLICT
 */
export async function checkRoot (path: string, others: readonly LibraryRoot[], dataDir: string): Promise<void> {
  if (!isAbsolute(path)) throw badRequest(`The path '${path}' is not absolute; give the whole path as the server sees it`)
  const dir = resolve(path)
  const real = await readFolder(path)
  for (const other of others) {
    const root = await readRealPath(other.dir)
    if (!isInside(root, real) && !isInside(real, root)) continue
    throw conflict(`'${dir}' overlaps with the library '${other.name}'; choose a folder outside of it`)
  }
  if (isBelow(SYSTEM_TREES, real) || isAt(SHARED_FOLDERS, real)) {
    throw badRequest(`'${dir}' is a folder of the system; give a folder that holds the library alone`)
  }
  await refuseOwnFolders(dir, real, dataDir)
}
