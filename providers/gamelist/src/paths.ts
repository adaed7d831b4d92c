import { posix } from 'node:path'

const ABSOLUTE = /^(?:\/|~\/|[a-z]:\/)/i

/**
 * The library path of a path written relative to one of its folders; undefined when absolute or leaving the library.
 */
export function resolveMediaPath (folder: string, text: string): string | undefined {
  const path = toForwardSlashes(text)
  if (ABSOLUTE.test(path)) return undefined
  const resolved = posix.join(folder, path)
  return isOutside(resolved) ? undefined : resolved
}

/**
 * The path of an entry relative to the platform folder. Of an absolute path, which the original EmulationStation
 * writes, only the file name is left; undefined for a path that leaves the folder or names none.
 */
export function normalizeEntryPath (text: string): string | undefined {
  const path = toForwardSlashes(text)
  const relative = ABSOLUTE.test(path) ? posix.basename(path) : posix.normalize(path).replace(/\/+$/, '')
  return relative === '' || relative === '.' || isOutside(relative) ? undefined : relative
}

/** Frontends on Windows write backslashes. */
function toForwardSlashes (path: string): string {
  return path.replaceAll('\\', '/')
}

function isOutside (path: string): boolean {
  return path === '..' || path.startsWith('../')
}
