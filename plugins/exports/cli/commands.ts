import type { Command } from 'commander'
import { jsonOption, platformOption } from '../../../core/cli/arguments.ts'
import type { ExportOptions } from './export.ts'

export function addExportCommands (program: Command): void {
  program.command('export').description('write the files of frontends into the library')
    .argument('<format>', 'gamelist, pegasus, another exporter, or all')
    .addOption(platformOption()).addOption(jsonOption())
    .action(async (format: string, options: ExportOptions) => {
      process.exitCode = await (await import('./export.ts')).exportLibrary(format, options)
    })
}
