import type { Command } from 'commander'
import { jsonOption } from '../../core/cli/arguments.ts'
import type { Features } from '../../core/feature.ts'
import type { ListOptions, RunOptions } from './cli.ts'

const HELP = `
The scan worker of the running server runs the task: Ctrl-C ends this command, not the task.
Examples:
  svc tasks run cleanup_orphaned_resources
  svc tasks run convert_library --args '{"to":"zip","dry_run":true}'`

export function addTaskCommands (program: Command, features: Features): void {
  const tasks = program.command('tasks').description('list the tasks of the server')
    .addOption(jsonOption())
    .action(async (options: ListOptions) => { await (await import('./cli.ts')).listTasks(features, options) })
  tasks.command('run').description('run a task and follow it')
    .argument('<name>', 'name of the task; svc tasks lists them')
    .option('--args <json>', 'arguments of the task, as a JSON object', '{}')
    .option('--no-wait', 'queue the task and end')
    .addHelpText('after', HELP)
    .action(async (name: string, options: RunOptions) => { process.exitCode = await (await import('./cli.ts')).runTask(features, name, options) })
  tasks.command('stop').description('stop a task; its results so far stay')
    .argument('<id>', 'id of the task; svc tasks run prints it')
    .action(async (id: string) => { await (await import('./cli.ts')).stopTask(features, id) })
}
