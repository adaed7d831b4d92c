import { InvalidSettingsError } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import { ProviderSkippedError } from '../../circuits/check-circuit.ts'
import { checkOwnOrAdmin } from '../admins.ts'
import { ProviderAccount } from '../entities.ts'
import { getUser } from '../get-user.ts'
import { type ProgressCall, TIMEOUT_SECONDS, readProgress } from './read-progress.ts'

type Answer = { ok: true } | { ok: false, message: string, is_invalid: boolean }

const QUEUE = 'user-progress'
const CONCURRENCY = 2

function describe (err: unknown, provider: string): string {
  if (err instanceof ProviderSkippedError) return `${provider} is not called: ${err.describe()}`
  return err instanceof Error ? err.message : String(err)
}

/** Creates the reading of users' progress. Plugins run in the scan worker, which stores their results. */
export function createAchievements (app: FastifyInstance, config: Config) {
  app.jobs.define<ProgressCall>(QUEUE, {
    concurrency: CONCURRENCY,
    timeoutSeconds: TIMEOUT_SECONDS,
    async run (call, signal): Promise<Answer> {
      try {
        await readProgress(app, config, call, signal)
        return { ok: true }
      } catch (err) {
        signal.throwIfAborted()
        const message = describe(err, call.provider)
        return { ok: false, message, is_invalid: err instanceof InvalidSettingsError }
      }
    }
  })

  return {
    /**
     * Updates a user's progress at a provider.
     *
     * @throws ApiError FORBIDDEN · NOT_FOUND without an account there, or with one the provider does not know ·
     * UNAVAILABLE while no provider can be asked
     */
    async refresh ({ db, caller }: Context, id: number, key: string, incremental: boolean): Promise<null> {
      checkOwnOrAdmin(caller, id)
      const user = await getUser(db, id)
      if (await db.em.count(ProviderAccount, { user: id, provider: key }) === 0) {
        throw notFound(`User '${user.username}' has no name at '${key}'; set ${key}_username`)
      }
      const provider = app.registry.providers.get(key)
      if (provider?.definition.progress === undefined) {
        throw new ApiError('UNAVAILABLE', provider === undefined
          ? `No provider '${key}' is active; install and configure one to read progress`
          : `The active provider '${key}' does not read users' progress; update it`)
      }
      const call: ProgressCall = { user_id: id, provider: key, incremental }
      const answer = await app.jobs.request(QUEUE, call, TIMEOUT_SECONDS * 1_000, { group: `user:${id}` }) as Answer
      if (answer.ok) return null
      throw new ApiError(answer.is_invalid ? 'NOT_FOUND' : 'UNAVAILABLE', answer.message)
    }
  }
}
export type Achievements = ReturnType<typeof createAchievements>
