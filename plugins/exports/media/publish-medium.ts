import { lstat, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { MediaKind } from '@svc/plugin-sdk'
import { exportFailed } from '../errors.ts'
import { describeWriteError, isDiskFull, isNotWritable } from '../files/fs-reason.ts'
import { type MediaFolder, publishFile } from './media-folder.ts'
import type { MediaRecords, MediaSource } from './media-records.ts'
import { extensionsOf, findSource, readContent } from './media-source.ts'

export interface MediaServices {
  resourcesDir: string
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
  if (found.ino === source.stats.ino && found.dev === source.stats.dev) {
    if (!records.isUnchanged(path, found) || !records.isFromSource(path, source)) records.set(path, found, source)
    return true
  }
  // A power cut during a copy leaves an empty file.
  if (found.isFile() && found.size === 0) return false
  if (records.isUnchanged(path, found)) return records.isFromSource(path, source)
  records.delete(path)
  return true
}

/** Writes a medium, and deletes its predecessors. @param stale names that the medium had or may have */
async function writeMedium (
  { resourcesDir, records }: MediaServices, folder: MediaFolder,
  { kind, stem, source }: Pick<Medium, 'kind' | 'stem'> & { source: MediaSource }, stale: readonly string[]
): Promise<string> {
  const { content, extension } = await readContent(resourcesDir, kind, source)
  const name = stem + extension
  try {
    if (!await publishFile(folder, name, content, stale.includes(name))) return name
    records.set(posix.join(folder.path, name), await lstat(join(folder.real, name)), source)
    // Delete the predecessor with another extension, because a frontend might find it first.
    for (const formerName of stale.filter((other) => other !== name)) {
      await rm(join(folder.real, formerName))
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
  const source = await findSource(services.resourcesDir, path)
  const names = extensionsOf(kind).map((extension) => stem + extension).filter((name) => folder.names.has(name))
  for (const name of names) {
    if (await mayStay(folder, name, source, services.records)) return name
  }
  return folder.isClosed ? null : await writeMedium(services, folder, { kind, stem, source }, names)
}
