import type { Upgrade } from '../../core/feature.ts'
import { ApiError, StartError } from '../../core/errors.ts'
import { backupConfig } from './config.ts'
import { createBackup } from './write-backup.ts'
import { UPGRADES_KEPT, deleteOld, nextPath, upgradeFolder } from './backup-folder.ts'

/** Backs up the database, for operators who want to return to the former release. */
async function saveDatabase ({ config, databaseUrl, log }: Upgrade): Promise<void> {
  const folder = upgradeFolder(config)
  log.info({ folder }, 'the database is backed up before its schema is changed')
  const { path, archive_bytes: bytes } = await createBackup({
    config,
    databaseUrl,
    path: nextPath(folder),
    namesIncomplete: false,
    isIncremental: false,
    holds: 'database',
    passphrase: null,
    signal: new AbortController().signal,
    report: () => undefined
  })
  const deleted = await deleteOld(path, UPGRADES_KEPT)
  log.info({ path, bytes, deleted }, 'the database was backed up')
}

/**
 * Backs up the database before migrations, unless that is off or the disk has no room for the backup.
 *
 * @throws StartError if it fails for another reason
 */
export async function backUpBeforeUpgrade (upgrade: Upgrade): Promise<void> {
  if (!backupConfig.of(upgrade.config).before_upgrade) return
  try {
    await saveDatabase(upgrade)
  } catch (err) {
    if (!(err instanceof ApiError && err.code === 'NO_FREE_SPACE')) {
      throw new StartError(`The database could not be backed up before its schema is changed: ${(err as Error).message}. Nothing was ` +
        'changed. Correct the cause, or set SVC_BACKUP_BEFORE_UPGRADE=false to upgrade without a backup.', { cause: err })
    }
    upgrade.log.warn(`the schema of the database is changed without a backup: ${err.message}`)
  }
}
