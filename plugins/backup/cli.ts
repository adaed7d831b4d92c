import { resolve } from 'node:path'
import { withDatabase } from '../../core/cli/migrate.ts'
import { dataDirOf } from '../../core/config/data-dir.ts'
import type { Features } from '../../core/feature.ts'
import { settingsEnvironment } from '../../core/config/environment.ts'
import { StartError } from '../../core/errors.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { commandLine } from '../../core/process/command-line.ts'
import { backupConfig } from './config.ts'
import { partsFolder } from './archive/archive-parts.ts'
import { createBackup } from './write-backup.ts'
import { interruptible } from './interruptible.ts'
import { backupFolder, nextPath, readPassphrase } from './backup-folder.ts'
import { mebibytes } from './progress.ts'
import { restoreBackup } from './restore/restore-backup.ts'

export interface SecretOptions { withoutSecretKey?: boolean }
export interface BackupOptions extends SecretOptions { incremental?: boolean }

const print = (text: string) => { process.stdout.write(`${text}\n`) }

/** Runs `svc backup`. */
export async function backup (features: Features, file: string | undefined, options: BackupOptions): Promise<void> {
  const { withoutSecretKey, incremental } = options
  const { config } = await features.loadConfig()
  const passphrase = readPassphrase(config, withoutSecretKey === true ? false : backupConfig.of(config).secret_key)
  const wanted = file === undefined ? nextPath(backupFolder(config)) : resolve(file)
  if (await isPresent(wanted)) throw new StartError(`${wanted} already exists. Give the name of a new file, or move the existing one away.`)
  const isIncremental = incremental ?? backupConfig.of(config).incremental
  const result = await withDatabase(features, config, (databaseUrl) => interruptible((signal, report) =>
    createBackup({
      config, databaseUrl, path: wanted, namesIncomplete: file === undefined, isIncremental, holds: 'everything', passphrase, signal, report
    })))
  const { path } = result
  const rows = Object.values(result.rows).reduce((sum, count) => sum + count, 0)
  print(`${path}: ${mebibytes(result.archive_bytes)}, ${rows} rows of ${Object.keys(result.rows).length} tables, ${result.files} files ` +
    `(${mebibytes(result.bytes)}).`)
  if (isIncremental) print(`The contents of files are in ${partsFolder(path)}: keep that folder together with the backup.`)
  if (result.gone > 0) print(`${result.gone} files are missing in the backup, because they were deleted meanwhile or are not on the disk: ${result.gone_files.join(', ')}.`)
  print(result.tables_tried
    ? 'The backup was read again: every hash is right, and its tables were restored into a temporary database.'
    : 'The backup was read again: every hash is right. Its tables were not restored as a test, because the role of SVC_DATABASE_URL may not create databases.')
  print(passphrase === null
    ? 'It does not contain the secret key, and its config.yml is not encrypted.'
    : 'Its secret key and config.yml are encrypted with SVC_BACKUP_PASSPHRASE.')
}

/** Runs `svc restore`. */
export async function restore (features: Features, file: string, { withoutSecretKey }: SecretOptions): Promise<void> {
  const environment = settingsEnvironment()
  const dataDir = dataDirOf(environment)
  const {
    manifest, ending, migrated, formerFolder, formerDatabase
  } = await interruptible((signal, report) => restoreBackup({
    path: resolve(file),
    dataDir,
    environment,
    loadConfig: features.loadConfig,
    withoutSecrets: withoutSecretKey === true,
    formerPrefix: 'before-restore',
    continuesWork: false,
    signal,
    report
  }))
  const rows = Object.values(ending.rows).reduce((sum, count) => sum + count, 0)
  print(`${dataDir} is as it was on ${manifest.created_at}: ${rows} rows, ${ending.files} files.`)
  if (migrated.length > 0) print(`The schema of the database was updated: ${migrated.join(', ')}.`)
  if (formerDatabase !== null) print(`The former content of the database is in the database ${formerDatabase}; drop that when you do not need it any more.`)
  if (formerFolder !== null) print(`The former content of the data directory is in ${formerFolder}; delete that when you do not need it any more.`)
  print(`Start the server with ${commandLine((await features.loadConfig()).config, 'start')}. svc scan --type complete fetches missing artwork again.`)
}
