import { Command } from 'commander'
import { removeSettings } from '../config/environment.ts'
import type { Features } from '../feature.ts'

const START_HELP = `
Ctrl-C or SIGTERM stops the server: it finishes running requests and puts running tasks back into the queue.
Exit codes: 0 stopped, 1 failed, 75 already running on this data directory.`

function addServerCommands (program: Command, features: Features): void {
  program.command('start').description('run the whole server: database, web workers and the scan worker')
    .addHelpText('after', START_HELP)
    .action(async () => { process.exitCode = await (await import('./start.ts')).start(features) })
  program.command('web').description('run one web worker alone, on the database of SVC_DATABASE_URL')
    .action(async () => { await (await import('./role.ts')).runRole(features, 'web') })
  program.command('worker').description('run one scan worker alone, on the database of SVC_DATABASE_URL')
    .action(async () => { await (await import('./role.ts')).runRole(features, 'worker') })
  program.command('migrate').description('update the database to the schema of this release, then end')
    .action(async () => { await (await import('./migrate.ts')).migrate(features) })
  program.command('database').description('join the database and a data directory')
    .command('adopt').description('join this data directory and the database, after a start that refused them')
    .action(async () => { await (await import('./migrate.ts')).adopt(features) })
  program.command('config').description('print every setting with its value and its variable, secrets masked, and what is wrong')
    .helpOption(false)
    .option('-h, --help [section]', 'list the sections, or describe the settings of one')
    .action(async ({ help }: { help?: string | true }, command: Command) => {
      const { printConfig, printConfigHelp } = await import('./config.ts')
      if (help === undefined) await printConfig(features)
      else await printConfigHelp(features, help, command.helpInformation())
    })
}

export async function createProgram (version: string, features: Features): Promise<Command> {
  const program = new Command('svc')
    .description('A self-hosted game library server.')
    .version(version)
    .option('--data-dir <folder>', 'folder of all data of the server; instead of SVC_DATA_DIR')
    .showHelpAfterError('(svc --help shows all commands)')
    .exitOverride()
    .hook('preAction', () => {
      const { dataDir } = program.opts<{ dataDir?: string }>()
      if (dataDir !== undefined) process.env.SVC_DATA_DIR = dataDir
      removeSettings()
    })
  addServerCommands(program, features)
  for (const addCommands of await features.loadCommands()) addCommands(program, features)
  return program
}
