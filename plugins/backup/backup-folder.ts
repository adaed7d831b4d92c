import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { StartError } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'

/** Backups that were made without a name of their own. */
const MADE_HERE = /^svc-\d{8}T\d{6}Z\.tar\.gz$/

export const backupFolder = (config: Config): string => config.backup.dir ?? join(config.data_dir, 'backups')

export const UPGRADES_KEPT = 3

/** Where the database is saved before an upgrade changes it: in the data directory, which the upgrade needs as well. */
export const upgradeFolder = (config: Config): string => join(config.data_dir, 'backups', 'before-upgrade')

/** The time in UTC, so that names are in the order of time. */
export const stampOf = (time: Date): string => time.toISOString().replaceAll(/[-:]|\.\d+/g, '')

export const nextPath = (folder: string, now = new Date()): string => join(folder, `svc-${stampOf(now)}.tar.gz`)

/** The names of backups in a folder, the newest one last. */
export async function listMade (folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((err: unknown) => {
    if (errorCode(err) === 'ENOENT') return []
    throw err
  })
  return names.filter((name) => MADE_HERE.test(name)).sort()
}

/** @returns the names of those that were deleted */
export async function dropOld (folder: string, keep: number): Promise<string[]> {
  const old = (await listMade(folder)).slice(0, -keep)
  for (const name of old) await rm(join(folder, name), { force: true })
  return old
}

/**
 * What encrypts the secrets of backups; null when they are to be left out.
 *
 * @throws StartError when it is not set and nobody chose to leave them out
 */
export function readPassphrase ({ backup }: Config, withSecretKey = backup.secret_key): string | null {
  if (!withSecretKey) return null
  if (backup.passphrase !== undefined) return backup.passphrase
  throw new StartError('A backup holds the secret key, which needs a passphrase. Set SVC_BACKUP_PASSPHRASE to 12 characters or ' +
    'more and keep it where the backup is not; or leave the key out with --without-secret-key (SVC_BACKUP_SECRET_KEY=false): ' +
    'after a restore elsewhere, people then sign in again and channels want their settings anew.')
}
