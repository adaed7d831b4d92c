import { isDeepStrictEqual } from 'node:util'
import { withApp } from '../../core/cli/app.ts'
import type { Features } from '../../core/feature.ts'
import { ApiError, EXIT_CODES, StartError } from '../../core/errors.ts'
import type { App } from '../../core/typebox.ts'
import type { Task } from './entities.ts'
import { followTask } from './follow-task.ts'

export interface ListOptions { json?: boolean }
export interface RunOptions { args: string, wait: boolean }

const write = (text: string) => { process.stdout.write(text) }

/** @throws StartError if the text is not a JSON object */
function readArguments (text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // The error below reports this too.
  }
  throw new StartError(`'${text}' is not a JSON object; give --args '{"name":"value"}'.`, { exitCode: EXIT_CODES.usage })
}

/** Converts an error that the operator can fix to a message without a stack. */
function toStartError (err: unknown): unknown {
  if (!(err instanceof ApiError)) return err
  const details = (err.violations ?? []).map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`)
  return new StartError([err.message, ...details].join('\n  '))
}

/** Runs `svc tasks`. */
export async function listTasks (features: Features, options: ListOptions): Promise<void> {
  await withApp(features, (await features.loadConfig()).config, async (app) => {
    const { scheduled, manual, watcher } = await app.tasks.listOfServer()
    for (const task of [...scheduled, ...manual, ...watcher]) {
      const { name, description, enabled, manual_run: manualRun, cron_string: cron, destructive } = task
      const facts = [cron === '' ? null : enabled ? cron : 'not scheduled', manualRun ? null : 'no manual run', destructive ? 'destructive' : null]
      write(options.json === true
        ? `${JSON.stringify(task)}\n`
        : `${name} (${facts.filter((fact) => fact !== null).join(', ') || 'manual run'})\n  ${description}\n`)
    }
  })
}

async function follow (app: App, id: string): Promise<number> {
  let shown: Task['meta'] = {}
  const task = await followTask(app, id, ({ meta }) => {
    if (!isDeepStrictEqual(meta, shown)) write(`${JSON.stringify(meta)}\n`)
    shown = meta
  })
  if (task === null) return EXIT_CODES.interrupted
  write(`${task.title}: ${task.status}${typeof task.error === 'string' ? `. ${task.error}` : ''}\n`)
  return task.status === 'finished' ? 0 : 1
}

/** Runs `svc tasks run`. */
export async function runTask (features: Features, name: string, options: RunOptions): Promise<number> {
  const args = readArguments(options.args)
  return await withApp(features, (await features.loadConfig()).config, async (app) => {
    const task = await app.tasks.run(name, args, null).catch((err: unknown) => { throw toStartError(err) })
    write(`${task.title}, task ${task.id}, is queued.\n`)
    return options.wait ? await follow(app, task.id) : 0
  })
}

/** Runs `svc tasks stop`. */
export async function stopTask (features: Features, id: string): Promise<void> {
  await withApp(features, (await features.loadConfig()).config, async (app) => {
    await app.tasks.stopOne(id).catch((err: unknown) => { throw toStartError(err) })
    write(`Task ${id} is being stopped.\n`)
  })
}
