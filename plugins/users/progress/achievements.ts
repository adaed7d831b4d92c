import { InvalidSettingsError, PLAY_STATUSES, type ProviderDefinition } from '@svc/plugin-sdk'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { toStorable } from '../../../core/database/json.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import { PluginAnswerError } from '../../../core/loader/answer-error.ts'
import { callProvider } from '../../../core/loader/call-provider.ts'
import { readPreferences } from '../../../core/loader/context.ts'
import { createMemo } from '../../../core/loader/memo.ts'
import { readPluginConfig } from '../../../core/loader/plugin-config.ts'
import type { Loaded } from '../../../core/loader/registry.ts'
import { StringEnum } from '../../../core/typebox.ts'
import { ProviderSkippedError, checkCircuit } from '../../circuits/check-circuit.ts'
import type { TaskDefinition } from '../../tasks/definitions.ts'
import type { StoredProgress } from './accounts.ts'
import { checkOwnOrAdmin } from '../admins.ts'
import { ProviderAccount, User } from '../entities.ts'
import { markStatuses, updateProgress } from '../rows.ts'

interface Call { user_id: number, provider: string, incremental: boolean }
type Answer = { ok: true } | { ok: false, message: string, is_invalid: boolean }

const QUEUE = 'user-progress'
/** Some providers need a request for each game. */
const TIMEOUT_SECONDS = 10 * 60
const CONCURRENCY = 2
const DEFAULT_CRON = '0 4 * * *'
/** The part of a game's progress that all providers share. */
const GameSchema = Type.Object({
  id: Type.Union([Type.Integer(), Type.String({ minLength: 1 })]),
  status: Type.Optional(StringEnum(PLAY_STATUSES))
})

function describe (err: unknown, provider: string): string {
  if (err instanceof ProviderSkippedError) return `${provider} is not called: ${err.describe()}`
  return err instanceof Error ? err.message : String(err)
}

/** Reads the progress of users at providers. Plugins run in the scan worker, which stores their results. */
export function createAchievements (app: FastifyInstance, config: Config) {
  function check (progress: unknown, { key, definition }: Loaded<ProviderDefinition>): StoredProgress {
    const schema = Type.Array(Type.Intersect([definition.progress?.schema ?? Type.Object({}), GameSchema]))
    const [problem] = [...Value.Errors(schema, progress)]
    if (problem === undefined) return toStorable(progress) as StoredProgress
    throw new PluginAnswerError(`Provider '${key}' returned progress whose ${problem.path.slice(1) || 'shape'} is wrong: ${problem.message}`)
  }

  /** @throws any error of the provider */
  async function read (call: Call, signal: AbortSignal): Promise<void> {
    const provider = app.registry.providers.get(call.provider)
    const account = await app.db.em.findOne(ProviderAccount, { user: call.user_id, provider: call.provider })
    if (provider?.definition.progress === undefined || account === null) return
    checkCircuit(provider, app.circuits.of(provider.key))
    const before = call.incremental ? account.progress as StoredProgress | null ?? undefined : undefined
    const scope = { signal, memo: createMemo(), preferences: readPreferences(config) }
    const limited = { ...provider, limits: { ...provider.limits, timeoutMs: TIMEOUT_SECONDS * 1_000 } }
    const progress = check(await callProvider(limited, scope, async (definition, ctx) =>
      await definition.progress?.read(account.settings as never, before as never, ctx)), provider)
    await updateProgress(app.db, call.user_id, call.provider, progress, account.settings)
  }

  app.jobs.define<Call>(QUEUE, {
    concurrency: CONCURRENCY,
    timeoutSeconds: TIMEOUT_SECONDS,
    async run (call, signal): Promise<Answer> {
      try {
        await read(call, signal)
        return { ok: true }
      } catch (err) {
        signal.throwIfAborted()
        const message = describe(err, call.provider)
        return { ok: false, message, is_invalid: err instanceof InvalidSettingsError }
      }
    }
  })

  /** @throws any error of the provider */
  async function readAndMark (call: Call, signal: AbortSignal): Promise<void> {
    await read(call, signal)
    await markStatuses(app.db, call.user_id, call.provider)
  }

  /** Reads the schedule from the plugin's section, or from the variables that its schema names. */
  function readSchedule (definition: ProviderDefinition): { isOn: boolean, cron: string } {
    const settings = readPluginConfig('provider', definition, config)
    const { progress_sync: isOn, progress_cron: cron } = settings.status === 'ready' ? settings.value : {}
    const given = typeof cron === 'string' ? cron : ''
    return { isOn: typeof isOn === 'boolean' ? isOn : given !== '', cron: given === '' ? DEFAULT_CRON : given }
  }

  async function refreshAll (
    provider: string, signal: AbortSignal, report: (done: number, total: number) => Promise<void>
  ) {
    const accounts = await app.db.em.find(ProviderAccount, { provider, user: { enabled: true } })
    let failures = 0
    for (const [index, { user }] of accounts.entries()) {
      signal.throwIfAborted()
      await report(index, accounts.length)
      await readAndMark({ user_id: user.id, provider, incremental: true }, signal).catch((err: unknown) => {
        signal.throwIfAborted()
        failures++
        app.log.warn({ err, provider, user: user.id }, 'progress of a user could not be read')
      })
    }
    await report(accounts.length, accounts.length)
    if (failures > 0 && failures === accounts.length) {
      throw new ApiError('UNAVAILABLE', `The progress of all ${failures} users could not be read; see the log of the server`)
    }
  }

  return {
    /**
     * Updates a user's progress at a provider.
     *
     * @throws ApiError FORBIDDEN · NOT_FOUND without an account there, or with one the provider does not know ·
     * UNAVAILABLE while no provider can be asked
     */
    async refresh ({ db, caller }: Context, id: number, key: string, incremental: boolean): Promise<null> {
      checkOwnOrAdmin(caller, id)
      const user = await db.em.findOne(User, { id })
      if (user === null) throw notFound(`User with ID '${id}' not found`)
      if (await db.em.count(ProviderAccount, { user: id, provider: key }) === 0) {
        throw notFound(`User '${user.username}' has no name at '${key}'; set ${key}_username`)
      }
      const provider = app.registry.providers.get(key)
      if (provider?.definition.progress === undefined) {
        throw new ApiError('UNAVAILABLE', provider === undefined
          ? `No provider '${key}' is active; install and configure one to read progress`
          : `The active provider '${key}' does not read users' progress; update it`)
      }
      const call: Call = { user_id: id, provider: key, incremental }
      const answer = await app.jobs.request(QUEUE, call, TIMEOUT_SECONDS * 1_000, { group: `user:${id}` }) as Answer
      if (answer.ok) return null
      throw new ApiError(answer.is_invalid ? 'NOT_FOUND' : 'UNAVAILABLE', answer.message)
    },

    /**
     * Returns a task for each provider that reports progress. Its schedule is on if `plugins.<key>.progress_cron` is
     * set,
     * unless `progress_sync` says otherwise.
     */
    tasks: (): TaskDefinition[] => [...app.registry.providers.values()].flatMap(({ key, definition }) => {
      if (definition.progress === undefined) return []
      const { isOn, cron } = readSchedule(definition)
      return [{
        name: `sync_${key}_progress`,
        title: `Scheduled ${definition.name} progress sync`,
        description: `Reads the progress of users at ${definition.name}, and marks their ROMs accordingly`,
        type: 'update',
        group: 'scheduled',
        enabled: isOn,
        manual_run: true,
        cron_string: cron,
        destructive: false,
        isSingle: true,
        arguments: Type.Object({}, { additionalProperties: false }),
        run: async ({ signal, report }) => await refreshAll(key, signal,
          async (processed, total) => await report({ update_stats: { processed, total } }))
      } satisfies TaskDefinition]
    })
  }
}
export type Achievements = ReturnType<typeof createAchievements>
