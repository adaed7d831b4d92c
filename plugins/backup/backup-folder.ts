import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { StartError } from '../../core/errors.ts'
import { ifPresent } from '../../core/files/fs-error.ts'
import { backupConfig } from './config.ts'

const EXTENSION = '.tar.gz'
/** The end of the name of a backup that lacks uploads which the database names. */
const INCOMPLETE = `-incomplete${EXTENSION}`
/** The default names of backups. */
const DEFAULT_NAME = /^svc-\d{8}T\d{6}Z(?:-incomplete)?\.tar\.gz$/
/** The end of the name of a backup that is being written. */
const UNFINISHED = '.part'
/** The end of the name of a temporary copy of an object. */
const COPY = '.copy'
const DAY_MS = 24 * 60 * 60 * 1_000

export const backupFolder = (config: Config): string => backupConfig.of(config).dir ?? join(config.data_dir, 'backups')

export const UPGRADES_KEPT = 3

/**
 * The folder of database backups before an upgrade. It is in the data directory, because the upgrade needs that disk
 * too.
 */
export const upgradeFolder = (config: Config): string => join(config.data_dir, 'backups', 'before-upgrade')

/** Returns the time in UTC, so that names sort by time. */
export const stampOf = (time: Date): string => time.toISOString().replaceAll(/[-:]|\.\d+/g, '')

export const nextPath = (folder: string): string => join(folder, `svc-${stampOf(new Date())}${EXTENSION}`)

/** Returns the path of a backup that lacks uploads, in place of the path of a complete one. */
export const incompletePath = (path: string): string => `${path.slice(0, -EXTENSION.length)}${INCOMPLETE}`

/** Returns the path at which a backup is written. */
export const unfinishedPath = (path: string): string => `${path}${UNFINISHED}`

/** Returns the path of the temporary copies that a backup makes of objects. */
export const copyPath = (path: string): string => `${path}${COPY}`

/**
 * Deletes what killed backups left in a folder. Files of the last day stay, because another server may write its
 * backups there, too.
 */
export async function deleteUnfinished (folder: string): Promise<void> {
  const names = await readdir(folder)
  for (const name of names) {
    const ending = [UNFINISHED, COPY].find((one) => name.endsWith(one))
    if (ending === undefined || !DEFAULT_NAME.test(name.slice(0, -ending.length))) continue
    const path = join(folder, name)
    const facts = await ifPresent(stat(path))
    if (facts !== null && facts.mtimeMs < Date.now() - DAY_MS) await rm(path, { force: true })
  }
}

/** Lists the names of backups in a folder, newest last. */
export async function listMade (folder: string): Promise<string[]> {
  const names = await ifPresent(readdir(folder)) ?? []
  return names.filter((name) => DEFAULT_NAME.test(name)).sort()
}

/**
 * Deletes the oldest backups beside the one that was just made. A name with a later time comes from a wrong clock, so
 * that backup counts as older than all others. An incomplete backup only replaces others that are incomplete, because
 * older ones may have what it lacks.
 *
 * @returns the names of the deleted backups
 */
export async function deleteOld (madePath: string, keep: number): Promise<string[]> {
  const [folder, made] = [dirname(madePath), basename(madePath)]
  const isReplaced = (name: string) => !made.endsWith(INCOMPLETE) || name.endsWith(INCOMPLETE)
  const others = (await listMade(folder)).filter((name) => name !== made && isReplaced(name))
  const byAge = [...others.filter((name) => name > made), ...others.filter((name) => name < made)]
  const old = byAge.slice(0, Math.max(0, byAge.length + 1 - keep))
  for (const name of old) await rm(join(folder, name), { force: true })
  return old
}

/**
 * Returns the passphrase for the secrets of backups; null if backups skip the secrets.
 *
 * @throws StartError if it is not set and secrets are not skipped
 */
export function readPassphrase (config: Config, withSecretKey = backupConfig.of(config).secret_key): string | null {
  if (!withSecretKey) return null
  const { passphrase } = backupConfig.of(config)
  if (passphrase !== undefined) return passphrase
  throw new StartError('A backup holds the secret key, which needs a passphrase. Set SVC_BACKUP_PASSPHRASE to 12 characters or ' +
    'more and keep it apart from the backup; or skip the key with --without-secret-key (SVC_BACKUP_SECRET_KEY=false): ' +
    'after a restore on another machine, people then have to sign in again, and channels need their settings again.')
}
