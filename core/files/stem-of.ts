import { extname } from 'node:path/posix'

/** Returns a name or path without its extension: `a/b.c.d` → `a/b.c`. A leading dot begins no extension. */
export function stemOf (path: string): string {
  return path.slice(0, path.length - extname(path).length)
}
