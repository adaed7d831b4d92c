import type { Command } from 'commander'
import { jsonOption } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { ImportOptions } from './cli.ts'
import type { ImporterDefinition } from './contract.ts'
import { IMPORTERS } from './importers.ts'

const toFlag = (name: string) => name.replaceAll('_', '-')

function describe ({ key, options }: ImporterDefinition): string {
  const secrets = Object.entries(options).filter(([, option]) => option.secret === true).map(([name]) => name)
  const lines = secrets.map((name) => `  imports.${key}.${name} in config.yml, IMPORT_${`${key}_${name}`.toUpperCase()}, or --${toFlag(name)}-file`)
  return `
Every setting may also be in config.yml below imports.${key}, or in a variable IMPORT_${key.toUpperCase()}_….
${secrets.length === 0 ? '' : `Secrets are read from:\n${lines.join('\n')}\n`}
The scan worker of the running server imports; without a server this command does it. A second import of the same source
adds what is new and changes nothing else. Nothing is written to the source.`
}

function addImporter (parent: Command, features: Features, importer: ImporterDefinition): void {
  const command = parent.command(importer.key).description(`import from ${importer.title}`)
  for (const [name, { description, secret = false, isPath = false }] of Object.entries(importer.options)) {
    const text = description.slice(0, 1).toLowerCase() + description.slice(1)
    if (secret) command.option(`--${toFlag(name)}-file <file>`, `file that holds the ${text}`)
    else command.option(`--${toFlag(name)} <${isPath ? 'path' : 'value'}>`, text)
  }
  command.option('--dry-run', 'read everything, store nothing, and print the plan')
    .option('--user <name>', 'the user of favourites, marks and files that have none')
    .addOption(jsonOption())
    .option('--no-wait', 'queue the import and end')
    .addHelpText('after', describe(importer))
    .action(async (options: ImportOptions) => {
      process.exitCode = await (await import('./cli.ts')).importLibrary(features, importer, options)
    })
}

export function addImportCommands (program: Command, features: Features): void {
  const parent = program.command('import').description('import users, saves, marks and collections from another program')
  for (const importer of IMPORTERS) addImporter(parent, features, importer)
}
