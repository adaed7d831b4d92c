import { lstat, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { MediaKind } from '@svc/plugin-sdk'
import type { Store } from '../../../core/store/store.ts'
import { ifPresent } from '../../../core/files/fs-error.ts'
import { exportFailed } from '../errors.ts'
import { describeWriteError, isDiskFull, isNotWritable } from '../files/fs-reason.ts'
import { type MediaFolder, publishFile } from './media-folder.ts'
import type { MediaRecords, MediaSource } from './media-records.ts'
import { type MediumContent, extensionsOf, findSource, withContent } from './media-source.ts'

export interface MediaServices {
  store: Store
  records: MediaRecords
}

/** A medium of a game in the resources folder. */
interface Medium {
  kind: MediaKind
  /** Its name beside the ROMs, without extension. */
  stem: string
  /** Relative to the resources folder. */
  path: string
}

/** True if the existing file belongs to someone else, or is ours and current. */
async function mayStay (
  folder: MediaFolder, name: string, source: MediaSource, records: MediaRecords
): Promise<boolean> {
  const path = posix.join(folder.path, name)
  const found = await lstat(join(folder.real, name))
  if (found.ino === source.file?.ino && found.dev === source.file.dev) {
    if (!records.isUnchanged(path, found) || !records.isFromSource(path, source)) records.set(path, found, source)
    return true
  }
  // A power cut during a copy leaves an empty file.
  if (found.isFile() && found.size === 0) return false
  if (records.isUnchanged(path, found)) return records.isFromSource(path, source)
  records.delete(path)
  return true
}

/**
 * Deletes a published medium that no game has any more. A file that someone changed since stays, and is theirs.
 *
 * @throws ApiError EXPORT_FAILED if the folder is not writable.
 */
export async function deleteMedium (folder: MediaFolder, name: string, records: MediaRecords): Promise<void> {
  const path = posix.join(folder.path, name)
  const file = join(folder.real, name)
  try {
    const found = await ifPresent(lstat(file))
    if (found !== null && records.isUnchanged(path, found)) {
      await rm(file)
      folder.names.delete(name)
    }
    records.delete(path)
  } catch (err) {
    throw exportFailed(describeWriteError(err, folder.real), { cause: err })
  }
}

/** A medium whose state is known. */
type KnownMedium = Pick<Medium, 'kind' | 'stem'> & { source: MediaSource }

/** Writes a medium, and deletes its predecessors. @param stale names that the medium had or may have */
async function writeMedium (
  { records }: MediaServices, folder: MediaFolder,
  { stem, source, content, extension }: KnownMedium & MediumContent, stale: readonly string[]
): Promise<string> {
  const name = stem + extension
  try {
    if (!await publishFile(folder, name, content, stale.includes(name))) return name
    records.set(posix.join(folder.path, name), await lstat(join(folder.real, name)), source)
    // Delete the predecessor with another extension, because a frontend might find it first.
    for (const formerName of stale.filter((other) => other !== name)) {
      await rm(join(folder.real, formerName))
      folder.names.delete(formerName)
      records.delete(posix.join(folder.path, formerName))
    }
    return name
  } catch (err) {
    if (isDiskFull(err)) throw err
    if (isNotWritable(err)) folder.isClosed = true
    throw exportFailed(describeWriteError(err, folder.real), { cause: err })
  }
}

/**
 * Publishes a medium beside the ROMs, unless a file of its name may stay.
 *
 * @returns the name of the published file; null if there is none
 */
export async function publishMedium (
  services: MediaServices, folder: MediaFolder, { kind, stem, path }: Medium
): Promise<string | null> {
  const source = await findSource(services.store, path)
  const names = extensionsOf(kind).map((extension) => stem + extension).filter((name) => folder.names.has(name))
  for (const name of names) {
    if (await mayStay(folder, name, source, services.records)) return name
  }
  if (folder.isClosed) return null
  return await withContent(services.store, kind, source, (content) =>
    writeMedium(services, folder, { kind, stem, source, ...content }, names))
}
