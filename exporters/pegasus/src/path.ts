import { posix } from 'node:path'

/** A URI as Pegasus tells it from a path: a scheme, a colon and more. */
const URI = /^[a-z][a-z\d+.-]*:./i

/**
 * A path of the file in the form of `ExportGame.path`: relative to the file's folder, no leading `./`. Null for a URI,
 * an absolute path and one that leaves the folder, as no ROM of the platform can be meant.
 */
export function normalizePath (path: string): string | null {
  if (path === '' || path.startsWith('/') || URI.test(path)) return null
  const normal = posix.normalize(path).replace(/\/$/, '')
  return normal === '.' || normal === '..' || normal.startsWith('../') ? null : normal
}
