import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Hasher } from '../../core/hashing/hasher.ts'
import { readDirectory } from '../../core/library/directory.ts'
import { errorCode } from '../../core/library/fs-error.ts'
import { Firmware } from '../firmware/entities.ts'
import { isKnownFirmware } from '../firmware/verify.ts'
import { Platform } from '../platforms/entities.ts'
import type { ScannedPlatform } from './identification.ts'
import type { Progress } from './progress.ts'
import type { ScanType } from './schemas.ts'

export interface FirmwareScan {
  em: EntityManager
  libraryDir: string
  /** The platform's firmware folder, relative to the library. */
  folder: string
  isExcluded (name: string): boolean
  type: ScanType
  hasher: Hasher
  progress: Progress
  signal: AbortSignal
}

interface Found { name: string, path: string, size: number }

/** Files directly in the folder; a platform without one has no firmware. */
async function listFiles ({ libraryDir, folder, isExcluded }: FirmwareScan): Promise<Found[]> {
  try {
    const items = await readDirectory(join(libraryDir, folder))
    const files = items.filter((item) => item.kind === 'file' && item.isValid && !isExcluded(item.name))
    return await Promise.all(files.map(async ({ name }) => {
      const path = join(libraryDir, folder, name)
      return { name, path, size: (await lstat(path)).size }
    }))
  } catch (err) {
    if (errorCode(err) === 'ENOENT' || errorCode(err) === 'ENOTDIR') return []
    throw err
  }
}

/** Hashes what is new or changed in a platform's firmware folder. @returns how many files were new. */
export async function scanFirmware (platform: ScannedPlatform, scan: FirmwareScan): Promise<number> {
  const { em, folder, type, hasher, progress, signal } = scan
  const rows = new Map((await em.find(Firmware, { platform: platform.id })).map((row) => [row.file_name, row]))
  let added = 0
  for (const file of await listFiles(scan)) {
    signal.throwIfAborted()
    const row = rows.get(file.name)
    rows.delete(file.name)
    progress.add({ scanned_firmware: 1 })
    const isKept = row !== undefined && row.md5_hash !== '' && row.file_size_bytes === file.size && row.file_path === folder
    if (isKept && type !== 'complete' && type !== 'hashes') {
      row.missing_from_fs = false
      continue
    }
    try {
      const { crc_hash: crc, md5_hash: md5, sha1_hash: sha1 } = await hasher.hashFile(file.path, { signal })
      const hashes = { crc_hash: crc, md5_hash: md5, sha1_hash: sha1 }
      const facts = {
        ...hashes, file_path: folder, file_size_bytes: file.size, missing_from_fs: false,
        is_verified: isKnownFirmware(platform.slug, file.name, file.size, hashes)
      }
      if (row === undefined) {
        em.create(Firmware, { ...facts, platform: em.getReference(Platform, platform.id), file_name: file.name })
        added++
      } else {
        em.assign(row, facts)
      }
    } catch (err) {
      signal.throwIfAborted()
      progress.problem({ platform: platform.fs_slug, path: `${folder}/${file.name}`, reason: (err as Error).message })
    }
  }
  for (const row of rows.values()) row.missing_from_fs = true
  await em.flush()
  progress.add({ new_firmware: added })
  return added
}
