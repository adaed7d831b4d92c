import type { Command } from 'commander'
import { jsonOption, readId } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { ListOptions } from './cli.ts'

const readIds = (value: string, ids: number[] | undefined) => [...ids ?? [], readId(value)]

export function addTrashCommands (program: Command, features: Features): void {
  const trash = program.command('trash').description('deleted ROMs and files that can still come back')
  trash.command('list').description('list what lies in the trash, the last deleted first')
    .addOption(jsonOption())
    .action(async (options: ListOptions) => { await (await import('./cli.ts')).listTrash(features, options) })
  trash.command('restore').description('bring ROMs and files back to where they were')
    .argument('<id...>', 'as svc trash list shows them', readIds)
    .action(async (ids: number[]) => { process.exitCode = await (await import('./cli.ts')).restoreTrash(features, ids) })
  trash.command('empty').description('delete everything in the trash for good, or just some of it')
    .argument('[id...]', 'as svc trash list shows them', readIds)
    .action(async (ids: number[]) => { process.exitCode = await (await import('./cli.ts')).emptyTrash(features, ids) })
}
