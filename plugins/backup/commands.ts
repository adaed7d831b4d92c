import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { dataDirOf } from '../../core/config/data-dir.ts'
import { settingsEnvironment } from '../../core/config/environment.ts'
import type { Features } from '../../core/feature.ts'
import type { BackupOptions, SecretOptions } from './cli.ts'
import { journalOf } from './restore/journal.ts'

const BACKUP_HELP = `
The server may run meanwhile, or not. The file is read again, and its tables are tried in a database of their own.
The secret key and config.yml are encrypted with SVC_BACKUP_PASSPHRASE.`
const RESTORE_HELP = `
The server must not run. Nothing changes before all of the archive was read and its database answers; what was there
before stays beside it, until you delete it.`

export function addBackupCommands (program: Command, features: Features): void {
  // Finish a restore that was interrupted during its swap, before any command reads the state.
  program.hook('preAction', async () => {
    const dataDir = dataDirOf(settingsEnvironment())
    if (existsSync(journalOf(dataDir))) await (await import('./restore/swap-data.ts')).endSwap(dataDir)
  })
  program.command('backup').description('write everything that nobody could make again into one file')
    .argument('[file]', 'a new file; without it one in the folder of backups')
    .option('--without-secret-key', 'leave the secret key out, and take config.yml as it is')
    .option('--incremental', 'write contents of files into svc-parts beside it, unless they are there from an earlier backup')
    .addHelpText('after', BACKUP_HELP)
    .action(async (file: string | undefined, options: BackupOptions) => { await (await import('./cli.ts')).backup(features, file, options) })
  program.command('restore').description('put a backup in the place of what the data directory and its database hold')
    .argument('<file>', 'as svc backup wrote it')
    .option('--without-secret-key', 'do without the secret key and config.yml of the backup')
    .addHelpText('after', RESTORE_HELP)
    .action(async (file: string, options: SecretOptions) => { await (await import('./cli.ts')).restore(features, file, options) })
}
