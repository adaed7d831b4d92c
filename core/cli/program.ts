import { Command } from 'commander'
import { removeSettings } from '../config/environment.ts'

/** Adds a feature's commands. The code of each command is loaded only when the command runs. */
export type AddCommands = (program: Command) => void

const START_HELP = `
Stops with Ctrl-C or SIGTERM: requests are finished, running tasks put back.
Exit codes: 0 stopped, 1 failed, 75 already running on this data directory.`
function addServerCommands (program: Command): void {
  program.command('start').description('run the whole server: database, web workers and the scan worker')
    .addHelpText('after', START_HELP)
    .action(async () => { process.exitCode = await (await import('./start.ts')).start() })
  program.command('web').description('run one web server alone, on the database SVC_DATABASE_URL names')
    .action(async () => { await (await import('./role.ts')).runRole('web') })
  program.command('worker').description('run one scan worker alone, on the database SVC_DATABASE_URL names')
    .action(async () => { await (await import('./role.ts')).runRole('worker') })
  program.command('migrate').description('bring the database to the schema of this release, then end')
    .action(async () => { await (await import('./migrate.ts')).migrate() })
  program.command('database').description('say what the database belongs to')
    .command('adopt').description('make this data directory that of the database, after a start that refused to')
    .action(async () => { await (await import('./migrate.ts')).adopt() })
  program.command('config').description('print every setting with its value and its variable; secrets are masked')
    .action(async () => { (await import('./config.ts')).printConfig() })
}

export function createProgram (version: string, features: readonly AddCommands[]): Command {
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
  addServerCommands(program)
  for (const addCommands of features) addCommands(program)
  return program
}
