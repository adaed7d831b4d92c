import { Type } from '@sinclair/typebox'
import type { ProviderContext } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { readPreferences } from '../../core/loader/context.ts'
import { readIndexSchedule } from '../../core/loader/index-schedule.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { createMemo } from '../../core/loader/memo.ts'

/** Archives of whole databases take their time. */
const TIMEOUT_SECONDS = 60 * 60
const ArgumentsSchema = Type.Object({
  force: Type.Optional(Type.Boolean({
    default: false, description: 'Clients may send it; a run by hand builds the index in any case, also with the schedule off'
  }))
}, { additionalProperties: false })

/** Between two writes of how far a build is. */
const REPORT_EVERY_MS = 1_000

/** Passes on how far work is, not more often than is worth a write. */
function createProgress (tell: TaskRun['report']) {
  let toldAt = -Infinity
  let telling: Promise<void> = Promise.resolve()
  const report: ProviderContext['report'] = ({ done, total = done, message }) => {
    if (performance.now() - toldAt < REPORT_EVERY_MS) return
    toldAt = performance.now()
    // The next one, or the end, says what could not be written now.
    telling = telling.then(() => tell({ update_stats: { processed: done, total, message } })).catch(() => {})
  }
  return { report, settled: () => telling }
}

/** One task for each provider that keeps a local index. Its schedule is off until it is set. */
export function defineIndexBuilds (app: FastifyInstance, config: Config): TaskDefinition[] {
  return [...app.registry.providers.values()].flatMap((provider) => {
    const { key, definition, rebuildIndex } = provider
    if (rebuildIndex === null || definition.index === undefined) return []
    const { enabled, cron } = readIndexSchedule(key, config)
    return [{
      name: `update_${key}_metadata`,
      title: `Scheduled ${definition.name} metadata update`,
      description: `Downloads or rebuilds the local index of ${definition.name}`,
      type: 'update',
      group: 'scheduled',
      enabled,
      manual_run: true,
      cron_string: cron,
      destructive: false,
      isSingle: true,
      timeoutSeconds: TIMEOUT_SECONDS,
      arguments: ArgumentsSchema,
      async run ({ signal, report }) {
        await report({ update_stats: { processed: 0, total: 1 } })
        const progress = createProgress(report)
        const scope = { signal, memo: createMemo(), preferences: readPreferences(config), report: progress.report }
        const count = await rebuildIndex(scope)
        await progress.settled()
        await report({ update_stats: { processed: count, total: count } })
      }
    } satisfies TaskDefinition]
  })
}
