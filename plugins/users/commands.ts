import type { Command } from 'commander'
import type { Features } from '../../core/feature.ts'
import type { PasswordOptions, UserOptions } from './cli.ts'

const PASSWORD_HELP = `
The command asks for the password, or reads it from standard input or SVC_NEW_PASSWORD, because others could see an argument.`

/** Returns the command `svc user`, to which other features add subcommands for accounts. */
export const findUserCommand = (program: Command): Command => program.commands.find((command) => command.name() === 'user') ??
  program.command('user').description('create users, set passwords, restore saves')

export function addUserCommands (program: Command, features: Features): void {
  const user = findUserCommand(program)
  user.command('password').description("set a user's password; ends sessions and deletes client tokens")
    .argument('<name>', 'the username')
    .option('--password-stdin', 'read the password from standard input, up to the first line end')
    .option('--keep-tokens', 'keep client tokens, and the devices that use them')
    .addHelpText('after', PASSWORD_HELP)
    .action(async (name: string, options: PasswordOptions) => { await (await import('./cli.ts')).setPassword(features, name, options) })
  user.command('add').description('create a user')
    .argument('<name>', "3 to 255 letters, digits, '_' or '-'")
    .option('--admin', 'create an administrator')
    .option('--email <address>', 'email address', '')
    .option('--password-stdin', 'read the password from standard input, up to the first line end')
    .addHelpText('after', PASSWORD_HELP)
    .action(async (name: string, options: UserOptions) => { await (await import('./cli.ts')).addUser(features, name, options) })
}
