import type { Command } from 'commander'
import { readId } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import { findUserCommand } from '../users/commands.ts'

export function addAssetCommands (program: Command, features: Features): void {
  const user = findUserCommand(program)
  user.command('deleted').description('list deleted accounts whose saves can still be restored')
    .action(async () => { await (await import('./cli.ts')).listDeleted(features) })
  user.command('restore').description('move the saves of a deleted account to another account')
    .argument('<id>', 'id of the deleted account; svc user deleted lists it', readId)
    .argument('<name>', 'username of the other account')
    .action(async (id: number, name: string) => { await (await import('./cli.ts')).restoreDeleted(features, id, name) })
}
