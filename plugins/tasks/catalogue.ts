import type { ValueError } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import { type Caller, requireGrant } from '../../core/access/auth.ts'
import { isCron } from '../../core/config/cron.ts'
import { ApiError, badRequest, forbidden, notFound } from '../../core/errors.ts'
import { listErrors } from '../../core/web/violations.ts'
import type { TaskDefinition } from './definitions.ts'
import type { Task } from './entities.ts'
import type { TaskInfo } from './schemas.ts'

const SCHEDULE_QUEUE = 'schedules'
const SCHEDULE_SECONDS = 60

type StartTask = (definition: TaskDefinition, args: Record<string, unknown>, userId: number | null) => Promise<Task>

function toInfo (definition: TaskDefinition): TaskInfo {
  const { name, type, title, description, enabled, manual_run: manual, cron_string: cron } = definition
  return {
    name, type, title, description, enabled, manual_run: manual, cron_string: cron,
    destructive: definition.destructive !== false
  }
}

const isAvailable = (definition: TaskDefinition) => definition.isAvailable?.() ?? true

const describe = ({ schema, message }: ValueError) =>
  Array.isArray(schema.enum) ? `Expected one of ${schema.enum.join(', ')}` : message

function checkArguments (definition: TaskDefinition, args: Record<string, unknown>): void {
  const errors = listErrors(definition.arguments, args)
  if (errors.length === 0) return
  throw new ApiError('INVALID', 'Invalid arguments', {
    violations: errors.map((error) => ({
      type: 'value_error', loc: ['body', ...error.path.split('/').slice(1)], msg: describe(error), input: error.value
    }))
  })
}

/** @throws ApiError FORBIDDEN or INSUFFICIENT_PERMISSIONS if the caller may not do by a route what the task does. */
function checkRight ({ name, destructive: right }: TaskDefinition, caller: Caller): void {
  if (right === false) return
  if (!caller.scopes.has(right.scope)) {
    const effect = right.grant[1] === 'delete' ? 'deletes objects' : 'renames files'
    throw forbidden(`The task '${name}' ${effect}, so it also needs the scope ${right.scope}; use a token that has it, or sign in`)
  }
  requireGrant(caller, ...right.grant)
}

/** The tasks that people and schedules start by name. */
export function createCatalogue (app: FastifyInstance, start: StartTask) {
  const definitions = new Map<string, TaskDefinition>()
  const listAvailable = () => [...definitions.values()].filter(isAvailable)

  async function startOrSkip (definition: TaskDefinition, args: Record<string, unknown>): Promise<void> {
    await start(definition, args, null).catch((err: unknown) => {
      if (!(err instanceof ApiError)) throw err
      app.log.info({ task: definition.name, reason: err.message }, 'an automatic task was skipped')
    })
  }

  app.jobs.define<{ name: string }>(SCHEDULE_QUEUE, {
    concurrency: 1,
    timeoutSeconds: SCHEDULE_SECONDS,
    run: async ({ name }) => {
      const definition = definitions.get(name)
      // Skip a task that was switched off since it was scheduled, or that cannot run. `startOrSkip` skips one whose
      // last run has not ended.
      if (definition?.enabled !== true || !isAvailable(definition)) return null
      await startOrSkip(definition, {})
      return null
    }
  })

  return {
    find: (name: string | null | undefined) => definitions.get(name ?? ''),

    /** Adds a task. */
    define (definition: TaskDefinition): void {
      if (definitions.has(definition.name)) throw new Error(`Task '${definition.name}' is defined twice`)
      definitions.set(definition.name, definition)
    },

    /** Updates the schedules in the database from the configuration. */
    async schedule (): Promise<void> {
      for (const { name, cron_string: cron, enabled, group } of definitions.values()) {
        if (group !== 'scheduled') continue
        try {
          await app.jobs.schedule(SCHEDULE_QUEUE, name, enabled ? cron : null, { name })
        } catch (err) {
          // A typing error in one schedule must not stop the start of the worker.
          app.log.error(isCron(cron) ? { err, task: name, cron } : { task: name, cron },
            'the task cannot be scheduled; correct its five cron fields (minute, hour, day, month, weekday)')
        }
      }
    },

    list () {
      const ofGroup = (group: TaskDefinition['group']) =>
        listAvailable().filter((definition) => definition.group === group).map(toInfo)
      return { scheduled: ofGroup('scheduled'), manual: ofGroup('manual'), watcher: ofGroup('watcher') }
    },

    /** Queues a task automatically, unless it already waits or runs. */
    async startAutomatically (name: string, args: Record<string, unknown> = {}): Promise<void> {
      const definition = definitions.get(name)
      if (definition !== undefined) await startOrSkip(definition, args)
    },

    /**
     * Starts a task for a caller; null means the operator, by the command line.
     *
     * @throws ApiError NOT_FOUND, BAD_REQUEST, CONFLICT, INVALID, UNAVAILABLE, FORBIDDEN or INSUFFICIENT_PERMISSIONS.
     */
    async run (name: string, args: Record<string, unknown>, caller: Caller | null): Promise<Task> {
      const userId = caller?.id ?? null
      const definition = definitions.get(name)
      if (definition === undefined || definition.group === 'watcher' || !isAvailable(definition)) {
        const others = listAvailable().filter((entry) => entry.group !== 'watcher')
        throw notFound(`Task '${name}' not found. The tasks are: ${others.map((entry) => entry.name).join(', ')}`)
      }
      if (!definition.manual_run) throw badRequest(`Task '${name}' cannot be run`)
      if (caller !== null) checkRight(definition, caller)
      checkArguments(definition, args)
      await app.workers.requireScanWorker()
      await definition.check?.(args, caller)
      return await (definition.startInstead?.(userId) ?? start(definition, args, userId))
    }
  }
}
