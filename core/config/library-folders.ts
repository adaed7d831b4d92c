import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isInside } from '../files/safe-path.ts'
import { NEVER, TimeLimitError, limitTime } from '../concurrency/limit-time.ts'
import { SERVER_DIR } from '../server-dir.ts'

/** Folders of the system, including everything inside them. */
const SYSTEM_TREES = ['/bin', '/boot', '/dev', '/etc', '/lib', '/lib32', '/lib64', '/proc', '/sbin', '/sys', '/usr',
  '/Library', '/System', '/private/etc', 'C:\\Program Files', 'C:\\Program Files (x86)', 'C:\\ProgramData', 'C:\\Windows']
/** Folders that contain the folders of people or programs. */
const SHARED_FOLDERS = ['/', '/home', '/opt', '/private', '/root', '/run', '/tmp', '/Users', '/var', '/var/cache', '/var/lib', '/var/log', 'C:\\', 'C:\\Users']
/** Folders with code in the server's folder, which may be a checkout with other folders beside them. */
const CODE_FOLDERS = ['channels', 'core', 'exporters', 'node_modules', 'plugins', 'providers', 'sdk']

/** A lost network share answers after minutes, or never. */
const LOOK_MS = 3_000

/** A root folder of a library. */
export interface NamedFolder { name: string, dir: string }

/** The reason why a folder must not be the root of a library. */
export interface FolderRefusal {
  reason: string
  /** True if the folder belongs to another library. */
  isTaken: boolean
}

const isAt = (folders: readonly string[], dir: string) => folders.includes(dir)
const isBelow = (trees: readonly string[], dir: string) => trees.some((tree) => isInside(tree, dir))

/** Returns the real path of a folder; a missing folder is compared by its name. */
const readRealPath = (dir: string): Promise<string> => realpath(dir).catch(() => dir)

/** Returns the server's own folder that overlaps with a folder; null if there is none. */
async function findOwnFolder (real: string, dataDir: string): Promise<string | null> {
  const data = await readRealPath(dataDir)
  // The only library of a new server is in its data folder.
  if (isInside(join(data, 'library'), real)) return null
  const server = await readRealPath(SERVER_DIR)
  return [data, ...CODE_FOLDERS.map((name) => join(server, name))]
    .find((folder) => isInside(folder, real) || isInside(real, folder)) ?? null
}

/**
 * Returns why a folder must not be the root of a library; null if it may be. The folder is judged by its path without
 * symbolic links, because the server writes, serves and deletes files in it.
 *
 * @param libraries the roots of the other libraries; a folder of one in another would belong to both
 */
export async function findFolderRefusal (
  path: string, libraries: readonly NamedFolder[], dataDir: string
): Promise<FolderRefusal | null> {
  const dir = resolve(path)
  const real = await readRealPath(dir)
  for (const library of libraries) {
    const root = await readRealPath(library.dir)
    if (!isInside(root, real) && !isInside(real, root)) continue
    return { isTaken: true, reason: `'${dir}' overlaps with the library '${library.name}'; choose a folder outside of it` }
  }
  if (isBelow(SYSTEM_TREES, real) || isAt(SHARED_FOLDERS, real)) {
    return { isTaken: false, reason: `'${dir}' is a folder of the system; choose a folder that contains only the library` }
  }
  const own = await findOwnFolder(real, dataDir)
  if (own === null) return null
  return { isTaken: false, reason: `'${dir}' overlaps with '${own}', where the server keeps its own files; choose a folder outside of it` }
}

/**
 * Checks the configured folders of all libraries, each against those before it. A folder whose disk does not answer is
 * left out, because a lost network share must not stop the server.
 *
 * @returns the reasons against folders, by the name of their library
 */
export async function findFolderRefusals (
  libraries: readonly NamedFolder[], dataDir: string
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(libraries.map(async ({ name, dir }, index): Promise<[string, string][]> => {
    try {
      const refusal = await limitTime('No answer within', LOOK_MS, NEVER,
        () => findFolderRefusal(dir, libraries.slice(0, index), dataDir))
      return refusal === null ? [] : [[name, refusal.reason]]
    } catch (err) {
      if (err instanceof TimeLimitError) return []
      throw err
    }
  }))
  return new Map(found.flat())
}
