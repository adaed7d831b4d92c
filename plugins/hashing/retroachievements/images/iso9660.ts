// Format: https://wiki.osdev.org/ISO_9660
import type { Hash } from 'node:crypto'
import { ArchiveError } from '../../../../core/archives/limits.ts'
import { MAX_HASHED_BYTES } from '../consoles.ts'
import { CONTENT_BYTES, DESCRIPTOR, type Track } from './tracks.ts'

/** A file or folder on a disc. */
export interface DiscFile {
  readonly sector: number
  readonly size: number
}

const ROOT_RECORD = 156
const NAME_IN_RECORD = 33
const CHUNK_SECTORS = 32
/** The largest folder that is read. Boot folders are short; a hostile one must not be long. */
const MAX_FOLDER_BYTES = 1024 ** 2

/** Finds a file by its path, with parts divided by `\` and compared without case; null if there is none. */
export function findFile (track: Track, path: string): DiscFile | null {
  const descriptor = track.read(track.firstSector + DESCRIPTOR.sector, 256)
  if (descriptor.length < 256) return null
  let found: DiscFile | null = toFile(descriptor.subarray(ROOT_RECORD))
  for (const part of path.split('\\').filter((one) => one !== '')) {
    if (found === null) return null
    found = findIn(track, found, part)
  }
  return found
}

function findIn (track: Track, folder: DiscFile, name: string): DiscFile | null {
  const sectors = Math.ceil(Math.min(folder.size, MAX_FOLDER_BYTES) / CONTENT_BYTES)
  for (let index = 0; index < Math.max(1, sectors); index++) {
    const content = track.read(folder.sector + index, CONTENT_BYTES)
    for (let at = 0; at + NAME_IN_RECORD < content.length;) {
      const length = content[at] ?? 0
      if (length === 0) break
      const record = content.subarray(at, at + length)
      if (nameOf(record) === name.toLowerCase()) return toFile(record)
      at += length
    }
  }
  return null
}

/** Returns the name of a record without the version that follows a file's name. */
function nameOf (record: Buffer): string {
  const name = record.toString('latin1', NAME_IN_RECORD, NAME_IN_RECORD + (record[32] ?? 0))
  return name.replace(/;.*$/s, '').toLowerCase()
}

function toFile (record: Buffer): DiscFile | null {
  return record.length < NAME_IN_RECORD ? null : { sector: record.readUInt32LE(2), size: record.readUInt32LE(10) }
}

/**
 * Adds the first 64 MiB of a file to a digest, or its part on the disc, because a program's header may claim more.
 * @throws ArchiveError when the disc ends before the file begins.
 */
export function digestFile (digest: Hash, track: Track, { sector, size }: DiscFile): void {
  const length = Math.min(size, MAX_HASHED_BYTES)
  if (track.read(sector, 1).length === 0) throw new ArchiveError('the disc ends too early')
  const chunk = CHUNK_SECTORS * CONTENT_BYTES
  for (let done = 0; done < length; done += chunk) {
    const bytes = track.read(sector + done / CONTENT_BYTES, Math.min(chunk, length - done))
    digest.update(bytes)
    if (bytes.length < chunk) return
  }
}

/** Adds consecutive sectors to a digest. */
export function digestSectors (digest: Hash, track: Track, sector: number, count: number): void {
  digestFile(digest, track, { sector, size: count * CONTENT_BYTES })
}
