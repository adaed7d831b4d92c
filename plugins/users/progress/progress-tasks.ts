import type { ProviderDefinition } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { ApiError } from '../../../core/errors.ts'
import { readPluginConfig } from '../../../core/loader/settings/plugin-config.ts'
import { defineTask } from '../../tasks/define-task.ts'
import type { TaskDefinition, TaskRun } from '../../tasks/definitions.ts'
import { ProviderAccount } from '../entities.ts'
import { markStatuses } from '../rows.ts'
import { type ProgressCall, readProgress } from './read-progress.ts'

const DEFAULT_CRON = '0 4 * * *'

/** Reads the progress of a user, and marks their ROMs accordingly. @throws any error of the provider */
async function readAndMark (
  app: FastifyInstance, config: Config, call: ProgressCall, signal: AbortSignal
): Promise<void> {
  await readProgress(app, config, call, signal)
  await markStatuses(app.db, call.user_id, call.provider)
}

/** Reads the schedule from the plugin's settings. A stored one applies after the next start. */
function readSchedule (
  app: FastifyInstance, config: Config, definition: ProviderDefinition
): { isOn: boolean, cron: string } {
  const stored = app.pluginSettings.of('provider', definition.key)
  const settings = readPluginConfig('provider', { ...definition, stored }, config)
  const { progress_sync: isOn, progress_cron: cron } = settings.status === 'ready' ? settings.value : {}
  const given = typeof cron === 'string' ? cron : ''
  return { isOn: typeof isOn === 'boolean' ? isOn : given !== '', cron: given === '' ? DEFAULT_CRON : given }
}

async function refreshAll (
  app: FastifyInstance, config: Config, provider: string, { signal, report }: TaskRun
): Promise<void> {
  const accounts = await app.db.em.find(ProviderAccount, { provider, user: { enabled: true } })
  let failures = 0
  for (const [index, { user }] of accounts.entries()) {
    signal.throwIfAborted()
    await report({ update_stats: { processed: index, total: accounts.length } })
    await readAndMark(app, config, { user_id: user.id, provider, incremental: true }, signal).catch((err: unknown) => {
      signal.throwIfAborted()
      failures++
      app.log.warn({ err, provider, user: user.id }, 'progress of a user could not be read')
    })
  }
  await report({ update_stats: { processed: accounts.length, total: accounts.length } })
  if (failures > 0 && failures === accounts.length) {
    throw new ApiError('UNAVAILABLE', `The progress of all ${failures} users could not be read; see the log of the server`)
  }
}

/**
 * Returns a task for each provider that reports progress. Its schedule is on if `plugins.<key>.progress_cron` is set,
 * unless `progress_sync` says otherwise.
 */
export function listProgressTasks (app: FastifyInstance, config: Config): TaskDefinition[] {
  return [...app.registry.providers.values()].flatMap(({ key, definition }) => {
    if (definition.progress === undefined) return []
    const { isOn, cron } = readSchedule(app, config, definition)
    return [defineTask({
      name: `sync_${key}_progress`,
      title: `Scheduled ${definition.name} progress sync`,
      description: `Reads the progress of users at ${definition.name}, and marks their ROMs accordingly`,
      type: 'update',
      enabled: isOn,
      cron_string: cron,
      run: async (run) => await refreshAll(app, config, key, run)
    })]
  })
}
