import { posix } from 'node:path'

/**
 * Normalizes a path to the form of `ExportGame.path`: relative to the platform folder, no leading `./`. Returns null
 * for a path that is absolute, starts in the home folder or leaves the platform folder, because no ROM has such a
 * path.
 */
export function normalizePath (path: string): string | null {
  if (path === '' || path.startsWith('/') || path.startsWith('~/')) return null
  const normal = posix.normalize(path).replace(/\/$/, '')
  return normal === '.' || normal === '..' || normal.startsWith('../') ? null : normal
}
