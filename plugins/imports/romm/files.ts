import type { Readable } from 'node:stream'
import { isNothingThere, openInside, safeRelativePath } from '../../../core/files/safe-path.ts'
import { FileAbsentError, type FileRef } from '../contract.ts'

/** The folders of RomM that hold files of people: below them every stored path lies. */
export type Base = 'assets' | 'resources'

/** The folders of one installation; null for one that was not named. */
export type Folders = Readonly<Record<Base, string | null>>

/** Returns a reference to a stored path. RomM appends `?ts=…` to some paths. */
export function fileIn (base: Base, path: string | null, sizeBytes: number | null = null): FileRef | null {
  const relative = path?.replace(/\?ts=.*$/s, '').replace(/^\/+/, '') ?? ''
  return relative === '' ? null : { path: `${base}/${relative}`, size_bytes: sizeBytes }
}

/**
 * Opens a file of a reference. Stored paths are not trusted: one that leads out of its folder counts as absent.
 *
 * @throws FileAbsentError
 */
export async function openFile (folders: Folders, { path }: FileRef): Promise<Readable> {
  const base = path.startsWith('assets/') ? 'assets' : path.startsWith('resources/') ? 'resources' : null
  const folder = base === null ? null : folders[base]
  if (base === null || folder === null) {
    throw new FileAbsentError(`The folder of ${JSON.stringify(path)} was not named; give RomM's folder with --base-path`)
  }
  try {
    const handle = await openInside(folder, safeRelativePath(path.slice(base.length + 1)))
    return handle.createReadStream()
  } catch (err) {
    if (!isNothingThere(err)) throw err
    throw new FileAbsentError(`${JSON.stringify(path)} is no file in RomM's folder`, { cause: err })
  }
}
