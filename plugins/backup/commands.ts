import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { dataDirOf } from '../../core/config/data-dir.ts'
import { settingsEnvironment } from '../../core/config/environment.ts'
import type { Features } from '../../core/feature.ts'
import type { BackupOptions, SecretOptions } from './cli.ts'
import { journalOf } from './restore/journal.ts'

const BACKUP_HELP = `
The server may be running or stopped. The command reads the file again and restores its tables into a temporary database as a test.
The secret key and config.yml are encrypted with SVC_BACKUP_PASSPHRASE.`
const RESTORE_HELP = `
The server must be stopped. Nothing changes until the whole archive was read and its database works. The former content
stays beside the new one until you delete it.`

export function addBackupCommands (program: Command, features: Features): void {
  // Finish a restore that was interrupted during its swap, before any command reads the state.
  program.hook('preAction', async () => {
    const dataDir = dataDirOf(settingsEnvironment())
    if (existsSync(journalOf(dataDir))) await (await import('./restore/swap-data.ts')).resumeInterruptedSwap(dataDir)
  })
  program.command('backup').description('write the database, saves, uploads and settings into one file')
    .argument('[file]', 'path of a new file; default: a file in the folder of backups')
    .option('--without-secret-key', 'skip the secret key, and do not encrypt config.yml')
    .option('--incremental', 'write contents of files into svc-parts beside the backup, unless an earlier backup wrote them')
    .addHelpText('after', BACKUP_HELP)
    .action(async (file: string | undefined, options: BackupOptions) => { await (await import('./cli.ts')).backup(features, file, options) })
  program.command('restore').description('replace the content of the data directory and its database by a backup')
    .argument('<file>', 'a file that svc backup wrote')
    .option('--without-secret-key', 'skip the secret key and config.yml of the backup')
    .addHelpText('after', RESTORE_HELP)
    .action(async (file: string, options: SecretOptions) => { await (await import('./cli.ts')).restore(features, file, options) })
}
