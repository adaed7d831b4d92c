import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { ExportOptions } from '../../plugins/exports/cli.ts'
import type { ScanOptions } from '../../plugins/scans/cli.ts'
import type { UserOptions, PasswordOptions } from '../../plugins/users/cli.ts'
import { takeSettings } from '../config/environment.ts'
import { useCompiledCode } from '../supervisor/compiled.ts'

const SCAN_TYPES = ['new_platforms', 'quick', 'update', 'unmatched', 'complete', 'hashes']

function readId (value: string): number {
  const id = Number(value)
  if (!Number.isInteger(id) || id < 1) throw new InvalidArgumentError('Ids are whole numbers from 1.')
  return id
}
const START_HELP = `
Stops with Ctrl-C or SIGTERM: requests are finished, running tasks put back.
Exit codes: 0 stopped, 1 failed, 75 already running on this data directory.`
const PASSWORD_HELP = `
The password is asked for, or read from standard input or from SVC_NEW_PASSWORD: others could see an argument.`

const collectIds = (value: string, ids: number[] = []) => [...ids, readId(value)]

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

function addLibraryCommands (program: Command): void {
  const platforms = new Option('--platform <folder...>', 'only these platform folders')
  const json = new Option('--json', 'print one JSON object per line')
  program.command('scan').description('scan the library and follow the scan')
    .addOption(new Option('--type <type>', 'how thorough').choices(SCAN_TYPES).default('quick'))
    .addOption(platforms)
    .option('--api <key...>', 'only these metadata sources')
    .option('--rom <id>', 'only this ROM; may be repeated', collectIds)
    .addOption(json)
    .option('--no-wait', 'queue it and end')
    .addHelpText('after', '\nThe scan worker of the running server does the work: Ctrl-C ends this command, not the scan.')
    .action(async (options: ScanOptions) => { process.exitCode = await (await import('../../plugins/scans/cli.ts')).scan(options) })
  program.command('export').description('write the files of frontends into the library')
    .argument('<format>', 'gamelist, pegasus, another exporter, or all')
    .addOption(platforms).addOption(json)
    .action(async (format: string, options: ExportOptions) => {
      process.exitCode = await (await import('../../plugins/exports/cli.ts')).exportLibrary(format, options)
    })
}

function addPluginCommands (program: Command): void {
  const plugins = program.command('plugins').description('list every plugin with its status, in load order')
    .option('--json', 'print one JSON object per line')
    .action(async (options: { json?: boolean }) => { await (await import('../../plugins/plugins/cli.ts')).listPlugins(options) })
  plugins.command('add').description('install a plugin from npm, a folder or a tarball')
    .argument('<package>', 'name, name@version, folder or tarball')
    .action(async (spec: string) => { process.exitCode = await (await import('../../plugins/plugins/npm.ts')).addPlugin(spec) })
  plugins.command('remove').description('uninstall a plugin').argument('<package>', 'its package name')
    .action(async (name: string) => { process.exitCode = await (await import('../../plugins/plugins/npm.ts')).removePlugin(name) })
}

function addUserCommands (program: Command): void {
  const user = program.command('user').description('make users, set passwords, restore saves')
  user.command('password').description("set a user's password; sessions and client tokens end")
    .argument('<name>', 'the username')
    .option('--password-stdin', 'read the password from standard input, up to the first line end')
    .option('--keep-tokens', 'leave client tokens as they are, with the devices that use them')
    .addHelpText('after', PASSWORD_HELP)
    .action(async (name: string, options: PasswordOptions) => { await (await import('../../plugins/users/cli.ts')).setPassword(name, options) })
  user.command('deleted').description('list deleted accounts whose saves can still be restored')
    .action(async () => { await (await import('../../plugins/users/cli.ts')).listDeleted() })
  user.command('restore').description('give the saves of a deleted account to another one')
    .argument('<id>', 'as svc user deleted lists it', readId)
    .argument('<name>', 'the username that gets them')
    .action(async (id: number, name: string) => { await (await import('../../plugins/users/cli.ts')).restoreDeleted(id, name) })
  user.command('add').description('make a user')
    .argument('<name>', "3 to 255 letters, digits, '_' or '-'")
    .option('--admin', 'make an administrator')
    .option('--email <address>', 'email address', '')
    .option('--password-stdin', 'read the password from standard input, up to the first line end')
    .addHelpText('after', PASSWORD_HELP)
    .action(async (name: string, options: UserOptions) => { await (await import('../../plugins/users/cli.ts')).addUser(name, options) })
}

export function createProgram (version: string): Command {
  const program = new Command('svc')
    .description('A self-hosted game library server.')
    .version(version)
    .option('--data-dir <folder>', 'where everything is kept; as SVC_DATA_DIR')
    .showHelpAfterError('(svc --help shows all commands)')
    .exitOverride()
    .hook('preAction', () => {
      const { dataDir } = program.opts<{ dataDir?: string }>()
      if (dataDir !== undefined) process.env.SVC_DATA_DIR = dataDir
      useCompiledCode(resolve(process.env.SVC_DATA_DIR || './data'))
      takeSettings()
    })
  addServerCommands(program)
  addLibraryCommands(program)
  addPluginCommands(program)
  addUserCommands(program)
  return program
}
