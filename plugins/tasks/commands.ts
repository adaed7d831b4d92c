import type { Command } from 'commander'
import { jsonOption } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { ListOptions, RunOptions } from './cli.ts'

const HELP = `
The scan worker of the running server does the work: Ctrl-C ends this command, not the task.
Examples:
  svc tasks run cleanup_orphaned_resources
  svc tasks run convert_library --args '{"to":"zip","dry_run":true}'`

export function addTaskCommands (program: Command, features: Features): void {
  const tasks = program.command('tasks').description('list the tasks of the server')
    .addOption(jsonOption())
    .action(async (options: ListOptions) => { await (await import('./cli.ts')).listTasks(features, options) })
  tasks.command('run').description('run a task and follow it')
    .argument('<name>', 'as svc tasks lists it')
    .option('--args <json>', 'its arguments, an object', '{}')
    .option('--no-wait', 'queue it and end')
    .addHelpText('after', HELP)
    .action(async (name: string, options: RunOptions) => { process.exitCode = await (await import('./cli.ts')).runTask(features, name, options) })
  tasks.command('stop').description('stop a task; what it did so far stays')
    .argument('<id>', 'as it was told when the task began')
    .action(async (id: string) => { await (await import('./cli.ts')).stopTask(features, id) })
}
