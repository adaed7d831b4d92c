import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { StartError } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'

/** Backups that were made without a name of their own. */
const MADE_HERE = /^svc-\d{8}T\d{6}Z\.tar\.gz$/

export const backupFolder = (config: Config): string => config.backup.dir ?? join(config.data_dir, 'backups')

/** Named by the time in UTC, so that names are in the order of time. */
export function nextPath (config: Config, now = new Date()): string {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return join(backupFolder(config), `svc-${stamp}.tar.gz`)
}

/** @returns the names of those that were deleted */
export async function dropOld (config: Config): Promise<string[]> {
  const folder = backupFolder(config)
  const names = await readdir(folder).catch((err: unknown) => {
    if (errorCode(err) === 'ENOENT') return []
    throw err
  })
  const old = names.filter((name) => MADE_HERE.test(name)).sort().slice(0, -config.backup.keep)
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
