import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { databaseDate } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import {
  INVALID_NAME_REASON, LibraryUnreadableError, adviceOf, readLibraryDirectory
} from '../library/directory.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { digestFile } from './digest.ts'
import { Firmware } from './entities.ts'
import { isKnownFirmware } from './known-firmware.ts'
import { Platform } from '../platforms/entities.ts'
import type { ExclusionRules } from '../library/exclusions.ts'
import type { LibraryRoot } from '../library/roots.ts'

export interface FirmwareScan {
  db: Db
  /** Called in the transaction of the writes; throws if nothing may be written any more. */
  check (tx: Db): Promise<void>
  /** The platform's firmware folder, relative to the library. */
  folder: string
  library: Pick<LibraryRoot, 'id' | 'dir'>
  rules: ExclusionRules
  /** True if files that look unchanged are hashed again. */
  isThorough: boolean
  progress: {
    add (counts: { scanned_firmware?: number, new_firmware?: number }): void
    problem (problem: { platform: string, path: string, reason: string }): void
  }
  signal: AbortSignal
}

/** A platform. A version of a platform has the firmware of the main platform, whose slug is `slug`. */
interface FirmwarePlatform { id: number, slug: string, fs_slug: string }

/** @property changedAt when content, name or rights of the file last changed, in milliseconds; a copy cannot set it */
interface FirmwareFile { name: string, path: string, size: number, changedAt: number }
type ReportProblem = (name: string, reason: string) => void

/** Lists the files directly in the folder; a platform without a folder has no firmware. */
async function listFiles (
  { folder, library, rules }: FirmwareScan, reportProblem: ReportProblem
): Promise<FirmwareFile[]> {
  const found: FirmwareFile[] = []
  for (const { name, kind, isValid } of await listItems(join(library.dir, folder))) {
    if (kind !== 'file' || rules.isExcludedSingle(name)) continue
    if (!isValid) {
      reportProblem(name, INVALID_NAME_REASON)
      continue
    }
    const path = join(library.dir, folder, name)
    try {
      const { size, ctimeMs } = await lstat(path)
      found.push({ name, path, size, changedAt: ctimeMs })
    } catch (err) {
      reportProblem(name, adviceOf(err))
    }
  }
  return found
}

async function listItems (path: string) {
  try {
    return await readLibraryDirectory(path)
  } catch (err) {
    const cause = err instanceof LibraryUnreadableError ? errorCode(err.cause) : ''
    if (cause === 'ENOENT' || cause === 'ENOTDIR') return []
    throw err
  }
}

/**
 * Hashes new and changed files in a platform's firmware folder.
 *
 * @returns the number of new files
 * @throws LibraryUnreadableError when the folder is there and cannot be read
 */
export async function scanFirmware (platform: FirmwarePlatform, scan: FirmwareScan): Promise<number> {
  const { db, check, folder, library, isThorough, progress, signal } = scan
  const reportProblem: ReportProblem = (name, reason) => {
    progress.problem({ platform: platform.fs_slug, path: `${folder}/${name}`, reason })
  }
  const files = await listFiles(scan, reportProblem)
  const stored = await db.em.find(Firmware, { platform: platform.id, library_id: library.id })
  const rows = new Map(stored.map((row) => [row.file_name, row]))
  const present = [...rows.values()].filter((row) => !row.missing_from_fs).length
  if (files.length === 0 && present > 0 && (await listItems(join(library.dir, dirname(folder)))).length === 0) {
    // An unmounted disk leaves the parent folder of all firmware empty.
    const reason = `the folder is empty, but the database has ${present} files of it; none was marked missing. Mount its ` +
      'disk, or create a folder in it if you deleted the files on purpose'
    progress.problem({ platform: platform.fs_slug, path: dirname(folder), reason })
    return 0
  }
  let added = 0
  for (const file of files) {
    signal.throwIfAborted()
    const row = rows.get(file.name)
    rows.delete(file.name)
    progress.add({ scanned_firmware: 1 })
    const isUnchanged = row !== undefined && row.md5_hash !== '' && row.file_path === folder &&
      row.file_size_bytes === file.size && row.updated_at.getTime() > file.changedAt
    if (isUnchanged && !isThorough) {
      row.missing_from_fs = false
      continue
    }
    const readAt = databaseDate()
    try {
      const hashes = await digestFile(file.path, signal)
      const facts = {
        ...hashes, file_path: folder, file_size_bytes: file.size, missing_from_fs: false, updated_at: readAt,
        is_verified: isKnownFirmware(platform.slug, file.name, file.size, hashes)
      }
      if (row === undefined) {
        const location = { platform: db.em.getReference(Platform, platform.id), library_id: library.id }
        db.em.create(Firmware, { ...facts, ...location, file_name: file.name })
        added++
      } else {
        db.em.assign(row, facts)
      }
    } catch (err) {
      signal.throwIfAborted()
      reportProblem(file.name, `not hashed: ${err instanceof Error ? err.message : String(err)}`)
      if (row !== undefined) row.missing_from_fs = false
    }
  }
  if (files.length === 0 && stored.length === 0) return 0
  for (const row of rows.values()) row.missing_from_fs = true
  // The commit writes the changed rows.
  await db.transact(check)
  progress.add({ new_firmware: added })
  return added
}
