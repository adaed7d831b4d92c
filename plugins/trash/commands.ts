import type { Command } from 'commander'
import { jsonOption, readId } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { ListOptions } from './cli.ts'

const readIds = (value: string, ids: number[] | undefined) => [...ids ?? [], readId(value)]

export function addTrashCommands (program: Command, features: Features): void {
  const trash = program.command('trash').description('list and restore deleted ROMs and files')
  trash.command('list').description('list the items of the trash, the last deleted first')
    .addOption(jsonOption())
    .action(async (options: ListOptions) => { await (await import('./cli.ts')).listTrash(features, options) })
  trash.command('restore').description('restore ROMs and files to their former folders')
    .argument('<id...>', 'ids of items; svc trash list shows them', readIds)
    .action(async (ids: number[]) => { process.exitCode = await (await import('./cli.ts')).restoreTrash(features, ids) })
  trash.command('empty').description('permanently delete all items of the trash, or some of them')
    .argument('[id...]', 'ids of items; svc trash list shows them', readIds)
    .action(async (ids: number[]) => { process.exitCode = await (await import('./cli.ts')).emptyTrash(features, ids) })
}
