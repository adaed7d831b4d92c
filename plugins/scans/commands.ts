import { type Command, Option } from 'commander'
import { collectIds, jsonOption, platformOption } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { ScanOptions } from './cli.ts'
import { SCAN_TYPES } from '../matching/scan-types.ts'

const HELP = '\nThe scan worker of the running server does the work: Ctrl-C ends this command, not the scan.'

export function addScanCommands (program: Command, features: Features): void {
  program.command('scan').description('scan the library and follow the scan')
    .addOption(new Option('--type <type>', 'how thorough').choices(SCAN_TYPES).default('quick'))
    .addOption(platformOption())
    .option('--library <name...>', 'only these libraries, by name or id')
    .option('--api <key...>', 'only these metadata providers')
    .option('--explain <rom>', 'say why a ROM, by its id or path, is the game that it is, and scan nothing')
    .option('--rom <id>', 'only this ROM; may be repeated', collectIds)
    .option('--option <name=value...>', 'an option of a metadata provider for this scan')
    .addOption(jsonOption())
    .option('--no-wait', 'queue it and end')
    .addHelpText('after', HELP)
    .action(async (options: ScanOptions) => { process.exitCode = await (await import('./cli.ts')).scan(features, options) })
}
