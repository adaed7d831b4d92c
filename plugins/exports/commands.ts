import type { Command } from 'commander'
import { jsonOption, platformOption } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { ExportOptions } from './cli.ts'

export function addExportCommands (program: Command, features: Features): void {
  program.command('export').description('write the files of frontends into the library')
    .argument('<format>', 'gamelist, pegasus, another exporter, or all')
    .addOption(platformOption()).addOption(jsonOption())
    .option('--scan', 'find new and changed files first, by a quick scan')
    .addHelpText('after', '\nA running server writes the files; without one, this command does.')
    .action(async (format: string, options: ExportOptions) => {
      process.exitCode = await (await import('./cli.ts')).exportLibrary(features, format, options)
    })
}
