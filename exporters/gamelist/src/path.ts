import { posix } from 'node:path'

/**
 * A path of the file in the form of `ExportGame.path`: relative to the platform folder, no leading `./`. Null when it
 * is absolute, starts in the home folder or leaves the platform folder, as no ROM of the platform can be meant.
 */
export function normalizePath (path: string): string | null {
  if (path === '' || path.startsWith('/') || path.startsWith('~/')) return null
  const normal = posix.normalize(path).replace(/\/$/, '')
  return normal === '.' || normal === '..' || normal.startsWith('../') ? null : normal
}
