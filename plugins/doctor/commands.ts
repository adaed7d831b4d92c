import type { Command } from 'commander'
import { jsonOption } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { DoctorOptions } from './cli.ts'

const HELP = `
The server may be running or stopped; a running server allows more checks. The command changes nothing, and sends a mail only with --mail.
Exit codes: 0 no check failed, 1 a check failed.`

export function addDoctorCommands (program: Command, features: Features): void {
  program.command('doctor')
    .description('check everything that the server needs, and print each problem with its remedy')
    .addOption(jsonOption())
    .option('--mail <address>', 'send a test mail to this address')
    .option('--full', 'look for every file that the database names, which takes minutes for a large store')
    .addHelpText('after', HELP)
    .action(async (options: DoctorOptions) => {
      // Exit explicitly, because a disk or connection that hangs would keep this process alive.
      process.exit(await (await import('./cli.ts')).examine(features, options))
    })
}
