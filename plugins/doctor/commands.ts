import type { Command } from 'commander'
import { jsonOption } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { DoctorOptions } from './cli.ts'

const HELP = `
The server may run meanwhile, which is when most can be said. Nothing is changed, and no mail is sent unless you ask for one.
Exit codes: 0 nothing has to be mended, 1 something has to.`

export function addDoctorCommands (program: Command, features: Features): void {
  program.command('doctor')
    .description('look at all that the server needs, and say what is wrong and what to do')
    .addOption(jsonOption())
    .option('--mail <address>', 'send a mail there')
    .addHelpText('after', HELP)
    .action(async (options: DoctorOptions) => {
      // Exit explicitly, because a disk or connection that hangs would keep this process alive.
      process.exit(await (await import('./cli.ts')).examine(features, options))
    })
}
