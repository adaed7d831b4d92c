import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { readPreferences } from '../../../core/loader/context.ts'
import { createMemo } from '../../../core/loader/memo.ts'
import type { TaskDefinition } from '../../tasks/definitions.ts'

/** Weekly, unless `plugins.<key>.refresh_cron` says otherwise. */
const DEFAULT_CRON = '0 4 * * 0'
/** Archives of whole databases take their time. */
const TIMEOUT_SECONDS = 60 * 60

/** One task for each provider that keeps a local index. Its schedule is off until `refresh_cron` is set. */
export function defineRefreshes (app: FastifyInstance, config: Config): TaskDefinition[] {
  return [...app.registry.providers.values()].flatMap((provider) => {
    const { key, definition, rebuildIndex } = provider
    if (rebuildIndex === null) return []
    const section: Record<string, unknown> = config.plugins[key] ?? {}
    const cron = section.refresh_cron
    const isScheduled = typeof cron === 'string' && cron !== ''
    return [{
      name: `update_${key}_metadata`,
      title: `Scheduled ${definition.name} metadata update`,
      description: `Downloads or rebuilds the local index of ${definition.name}`,
      type: 'update',
      group: 'scheduled',
      enabled: isScheduled,
      manual_run: true,
      cron_string: isScheduled ? cron : DEFAULT_CRON,
      destructive: false,
      isSingle: true,
      timeoutSeconds: TIMEOUT_SECONDS,
      arguments: Type.Object({}, { additionalProperties: false }),
      async run ({ signal, report }) {
        await report({ update_stats: { processed: 0, total: 1 } })
        const count = await rebuildIndex({ signal, memo: createMemo(), preferences: readPreferences(config) })
        await report({ update_stats: { processed: count, total: count } })
      }
    } satisfies TaskDefinition]
  })
}
