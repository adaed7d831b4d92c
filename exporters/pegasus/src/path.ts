import { posix } from 'node:path'

/** A URI by Pegasus' rule: a scheme, a colon and more. */
const URI = /^[a-z][a-z\d+.-]*:./i

/**
 * Normalizes a path to the form of `ExportGame.path`: relative to the file's folder, no leading `./`. Returns null
 * for a URI, an absolute path and a path that leaves the folder, because no ROM has such a path.
 */
export function normalizePath (path: string): string | null {
  if (path === '' || path.startsWith('/') || URI.test(path)) return null
  const normal = posix.normalize(path).replace(/\/$/, '')
  return normal === '.' || normal === '..' || normal.startsWith('../') ? null : normal
}
