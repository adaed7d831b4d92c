import { PLAY_STATUSES, type ProviderDefinition } from '@svc/plugin-sdk'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { toStorable } from '../../../core/database/json.ts'
import { PluginAnswerError } from '../../../core/loader/calls/answer-error.ts'
import { callProvider } from '../../../core/loader/calls/call-provider.ts'
import { readPreferences } from '../../../core/loader/context.ts'
import { createMemo } from '../../../core/loader/calls/memo.ts'
import type { Loaded } from '../../../core/loader/registry.ts'
import { StringEnum } from '../../../core/typebox.ts'
import { checkCircuit } from '../../circuits/check-circuit.ts'
import { ProviderAccount } from '../entities.ts'
import { updateProgress } from '../rows.ts'
import type { StoredProgress } from './provider-accounts.ts'

/** The user and the provider whose progress is read. */
export interface ProgressCall { user_id: number, provider: string, incremental: boolean }

/** Some providers need a request for each game. */
export const TIMEOUT_SECONDS = 10 * 60

/** The part of a game's progress that all providers share. */
const GameSchema = Type.Object({
  id: Type.Union([Type.Integer(), Type.String({ minLength: 1 })]),
  status: Type.Optional(StringEnum(PLAY_STATUSES))
})

/** Checks the progress that a provider returned. @throws PluginAnswerError */
function checkProgress (progress: unknown, { key, definition }: Loaded<ProviderDefinition>): StoredProgress {
  const schema = Type.Array(Type.Intersect([definition.progress?.schema ?? Type.Object({}), GameSchema]))
  const [problem] = [...Value.Errors(schema, progress)]
  if (problem === undefined) return toStorable(progress) as StoredProgress
  throw new PluginAnswerError(`Provider '${key}' returned progress whose ${problem.path.slice(1) || 'shape'} is wrong: ${problem.message}`)
}

/** Reads the progress of a user at a provider, and stores it. @throws any error of the provider */
export async function readProgress (
  app: FastifyInstance, config: Config, call: ProgressCall, signal: AbortSignal
): Promise<void> {
  const provider = app.registry.providers.get(call.provider)
  const account = await app.db.em.findOne(ProviderAccount, { user: call.user_id, provider: call.provider })
  if (provider?.definition.progress === undefined || account === null) return
  checkCircuit(provider, app.circuits.of(provider.key))
  const before = call.incremental ? account.progress as StoredProgress | null ?? undefined : undefined
  const scope = { signal, memo: createMemo(), preferences: readPreferences(config) }
  const limited = { ...provider, limits: { ...provider.limits, timeoutMs: TIMEOUT_SECONDS * 1_000 } }
  const progress = checkProgress(await callProvider(limited, scope, async (definition, ctx) =>
    await definition.progress?.read(account.settings as never, before as never, ctx)), provider)
  await updateProgress(app.db, call, progress, account.settings)
}
