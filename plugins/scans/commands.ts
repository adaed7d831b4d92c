import { type Command, Option } from 'commander'
import { collectIds, jsonOption, platformOption } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { ScanOptions } from './cli.ts'
import { SCAN_TYPES } from '../matching/scan-types.ts'

const HELP = '\nThe scan worker of the running server scans: Ctrl-C ends this command, not the scan.'

export function addScanCommands (program: Command, features: Features): void {
  program.command('scan').description('scan the library and follow the scan')
    .addOption(new Option('--type <type>', 'extent of the scan').choices(SCAN_TYPES).default('quick'))
    .addOption(platformOption())
    .option('--library <name...>', 'only these libraries, by name or id')
    .option('--api <key...>', 'only these metadata providers')
    .option('--explain <rom>', 'explain the match of a ROM, by its id or path, and scan nothing')
    .option('--rom <id>', 'only this ROM; may be repeated', collectIds)
    .option('--option <name=value...>', 'an option of a metadata provider for this scan')
    .addOption(jsonOption())
    .option('--no-wait', 'queue the scan and end')
    .addHelpText('after', HELP)
    .action(async (options: ScanOptions) => { process.exitCode = await (await import('./cli.ts')).scan(features, options) })
}
