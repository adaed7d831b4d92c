import type { Command } from 'commander'
import { collectIds, collectTexts, jsonOption, readId } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { AddOptions, FixdatOptions, ListOptions, RenameOptions } from './cli.ts'

const ADD_HELP = `
The scan worker of the running server loads the files: Ctrl-C ends this command, not the load.
Examples:
  svc dat add "Nintendo - Game Boy (20240101-101010).dat"
  svc dat add daily-pack.zip
  svc dat add --platform snes my-list.dat`

export function addDatCommands (program: Command, features: Features): void {
  const dat = program.command('dat').description('compare the library with DAT files: good dumps, missing games, names')
  dat.command('list').description('list the DAT files with the games that are there and missing')
    .addOption(jsonOption())
    .action(async (options: ListOptions) => { await (await import('./cli.ts')).listDats(features, options) })
  dat.command('add').description('load DAT files, or archives of them; a newer version replaces the former one')
    .argument('<file...>', 'DAT files in XML or the text format of ClrMamePro, or .zip and .7z archives of them')
    .option('--platform <slug>', 'platform of the DATs, in place of those in their names; may be repeated', collectTexts)
    .addHelpText('after', ADD_HELP)
    .action(async (files: string[], options: AddOptions) => { process.exitCode = await (await import('./cli.ts')).addDats(features, files, options) })
  dat.command('remove').description('delete DAT files; ROMs stay')
    .argument('<id...>', 'ids of DATs; svc dat list shows them', collectIds)
    .action(async (ids: number[]) => { process.exitCode = await (await import('./cli.ts')).removeDats(features, ids) })
  dat.command('fixdat').description('print a DAT file of the missing games, as Logiqx XML')
    .argument('<id>', 'id of the DAT; svc dat list shows it', readId)
    .option('--output <file>', 'write into this new file')
    .action(async (id: number, options: FixdatOptions) => { await (await import('./cli.ts')).writeFixdat(features, id, options) })
  dat.command('rename').description('give ROMs the names of their games in a DAT file')
    .argument('<id>', 'id of the DAT; svc dat list shows it', readId)
    .option('--rom <id>', 'only this ROM; may be repeated', collectIds)
    .option('--dry-run', 'print the planned renames and change nothing')
    .action(async (id: number, options: RenameOptions) => { process.exitCode = await (await import('./cli.ts')).renameByDat(features, id, options) })
}
