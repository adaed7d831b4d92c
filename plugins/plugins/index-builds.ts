import { Type } from '@sinclair/typebox'
import type { ProviderContext } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { notFound } from '../../core/errors.ts'
import { readPreferences } from '../../core/loader/context.ts'
import { readIndexSchedule } from '../../core/loader/search-index/index-schedule.ts'
import { defineTask } from '../tasks/define-task.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'

/** The timeout, which is long because providers publish archives of whole databases. */
const TIMEOUT_SECONDS = 60 * 60
const ArgumentsSchema = Type.Object({
  force: Type.Optional(Type.Boolean({
    default: false, description: 'Without effect: a manual run always builds the index, even with the schedule off'
  }))
}, { additionalProperties: false })

/** The shortest time between two progress reports of a build. */
const REPORT_EVERY_MS = 1_000

/** Reports progress, but not more often than a write is worth. */
function createProgress (sendReport: TaskRun['report']) {
  let reportedAt = -Infinity
  let reporting: Promise<void> = Promise.resolve()
  const report: ProviderContext['report'] = ({ done, total = done, message }) => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return
    reportedAt = performance.now()
    // The next report, or the last one, has the values that could not be written now.
    reporting = reporting.then(() => sendReport({ update_stats: { processed: done, total, message } })).catch(() => {})
  }
  return { report, flush: () => reporting }
}

/**
 * Defines a task for each provider with a local index, also for one that is off, because it may be switched on later.
 * Its schedule is off until it is configured.
 */
export function defineIndexBuilds ({ registry }: FastifyInstance, config: Config): TaskDefinition[] {
  return registry.definitions.flatMap(({ kind, definition }) => {
    const { key } = definition
    if (kind !== 'provider' || !('index' in definition) || definition.index === undefined) return []
    const findRebuild = () => registry.providers.get(key)?.rebuildIndex ?? null
    const { enabled, cron } = readIndexSchedule(key, config)
    return [defineTask({
      name: `update_${key}_metadata`,
      title: `Scheduled ${definition.name} metadata update`,
      description: `Downloads or rebuilds the local index of ${definition.name}`,
      type: 'update',
      enabled,
      cron_string: cron,
      timeoutSeconds: TIMEOUT_SECONDS,
      arguments: ArgumentsSchema,
      isAvailable: () => findRebuild() !== null,
      async run ({ signal, report }) {
        const rebuildIndex = findRebuild()
        if (rebuildIndex === null) throw notFound(`${definition.name} is off; \`svc plugins\` says why`)
        await report({ update_stats: { processed: 0, total: 1 } })
        const progress = createProgress(report)
        const scope = { signal, memo: createMemo(), preferences: readPreferences(config), report: progress.report }
        const count = await rebuildIndex(scope)
        await progress.flush()
        await report({ update_stats: { processed: count, total: count } })
      }
    })]
  })
}
