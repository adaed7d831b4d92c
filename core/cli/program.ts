import { Command } from 'commander'
import { removeSettings } from '../config/environment.ts'
import type { Features } from '../feature.ts'

const START_HELP = `
Stops with Ctrl-C or SIGTERM: requests are finished, running tasks put back.
Exit codes: 0 stopped, 1 failed, 75 already running on this data directory.`

function addServerCommands (program: Command, features: Features): void {
  program.command('start').description('run the whole server: database, web workers and the scan worker')
    .addHelpText('after', START_HELP)
    .action(async () => { process.exitCode = await (await import('./start.ts')).start(features) })
  program.command('web').description('run one web server alone, on the database SVC_DATABASE_URL names')
    .action(async () => { await (await import('./role.ts')).runRole(features, 'web') })
  program.command('worker').description('run one scan worker alone, on the database SVC_DATABASE_URL names')
    .action(async () => { await (await import('./role.ts')).runRole(features, 'worker') })
  program.command('migrate').description('bring the database to the schema of this release, then end')
    .action(async () => { await (await import('./migrate.ts')).migrate(features) })
  program.command('database').description('say what the database belongs to')
    .command('adopt').description('make this data directory that of the database, after a start that refused to')
    .action(async () => { await (await import('./migrate.ts')).adopt(features) })
  program.command('config').description('print every setting with its value and its variable; secrets are masked')
    .helpOption(false)
    .option('-h, --help [section]', 'list the sections, or describe the settings of one')
    .action(async ({ help }: { help?: string | true }, command: Command) => {
      const { printConfig, printConfigHelp } = await import('./config.ts')
      if (help === undefined) await printConfig(features)
      else await printConfigHelp(features, help, command.helpInformation())
    })
}

export function createProgram (version: string, features: Features): Command {
  const program = new Command('svc')
    .description('A self-hosted game library server.')
    .version(version)
    .option('--data-dir <folder>', 'where everything is kept; as SVC_DATA_DIR')
    .showHelpAfterError('(svc --help shows all commands)')
    .exitOverride()
    .hook('preAction', () => {
      const { dataDir } = program.opts<{ dataDir?: string }>()
      if (dataDir !== undefined) process.env.SVC_DATA_DIR = dataDir
      removeSettings()
    })
  addServerCommands(program, features)
  for (const addCommands of features.commands) addCommands(program, features)
  return program
}
