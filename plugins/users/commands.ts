import type { Command } from 'commander'
import { readId } from '../../core/cli/arguments.ts'
import type { PasswordOptions, UserOptions } from './cli.ts'

const PASSWORD_HELP = `
The password is asked for, or read from standard input or from SVC_NEW_PASSWORD: others could see an argument.`

export function addUserCommands (program: Command): void {
  const user = program.command('user').description('make users, set passwords, restore saves')
  user.command('password').description("set a user's password; sessions and client tokens end")
    .argument('<name>', 'the username')
    .option('--password-stdin', 'read the password from standard input, up to the first line end')
    .option('--keep-tokens', 'leave client tokens as they are, with the devices that use them')
    .addHelpText('after', PASSWORD_HELP)
    .action(async (name: string, options: PasswordOptions) => { await (await import('./cli.ts')).setPassword(name, options) })
  user.command('deleted').description('list deleted accounts whose saves can still be restored')
    .action(async () => { await (await import('./cli.ts')).listDeleted() })
  user.command('restore').description('give the saves of a deleted account to another one')
    .argument('<id>', 'as svc user deleted lists it', readId)
    .argument('<name>', 'the username that gets them')
    .action(async (id: number, name: string) => { await (await import('./cli.ts')).restoreDeleted(id, name) })
  user.command('add').description('make a user')
    .argument('<name>', "3 to 255 letters, digits, '_' or '-'")
    .option('--admin', 'make an administrator')
    .option('--email <address>', 'email address', '')
    .option('--password-stdin', 'read the password from standard input, up to the first line end')
    .addHelpText('after', PASSWORD_HELP)
    .action(async (name: string, options: UserOptions) => { await (await import('./cli.ts')).addUser(name, options) })
}
