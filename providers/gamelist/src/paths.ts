import { posix } from 'node:path'

const ABSOLUTE = /^(?:\/|~\/|[a-z]:\/)/i

/**
 * Resolves a path relative to a folder into a library path; undefined for a path that is absolute or leaves the
 * library.
 */
export function resolveMediaPath (folder: string, text: string): string | undefined {
  const path = toForwardSlashes(text)
  if (ABSOLUTE.test(path)) return undefined
  const resolved = posix.join(folder, path)
  return isOutside(resolved) ? undefined : resolved
}

/**
 * Normalizes the path of an entry, relative to the platform folder. An absolute path, which the original
 * EmulationStation writes, becomes its file name. Undefined for a path that leaves the folder or names no file.
 */
export function normalizeEntryPath (text: string): string | undefined {
  const path = toForwardSlashes(text)
  const relative = ABSOLUTE.test(path) ? posix.basename(path) : posix.normalize(path).replace(/\/+$/, '')
  return relative === '' || relative === '.' || isOutside(relative) ? undefined : relative
}

/** Replaces the backslashes that frontends on Windows write. */
function toForwardSlashes (path: string): string {
  return path.replaceAll('\\', '/')
}

function isOutside (path: string): boolean {
  return path === '..' || path.startsWith('../')
}
