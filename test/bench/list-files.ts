import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface ListedFile { path: string, bytes: number, mtime: number }

/** Lists all files below a folder, in the simplest way. */
export function listFiles (folder: string): ListedFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return listFiles(path)
    const { size, mtimeMs } = lstatSync(path)
    return [{ path, bytes: size, mtime: mtimeMs }]
  })
}
