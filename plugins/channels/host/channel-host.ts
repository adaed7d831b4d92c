import type { ChannelDefinition, OutgoingNotification } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { limitTime } from '../../../core/concurrency/limit-time.ts'
import { readPreferences } from '../../../core/loader/context.ts'
import { createMemo } from '../../../core/loader/calls/memo.ts'
import type { Loaded } from '../../../core/loader/registry.ts'
import { type CallResult, explain, hideNetwork, secretsOf } from './channel-failures.ts'
import { type ChannelSubject, createChannelHttp } from './http.ts'
import { type ChannelContext, inspectSettings } from './inspect-settings.ts'
import { cutNotification } from './render.ts'

export const DEFAULT_TIMEOUT_MS = 30_000
type ChannelCall<Value> = (
  definition: ChannelDefinition, ctx: ChannelContext, loaded: Loaded<ChannelDefinition>
) => Promise<Value>

/** Describes why a channel plugin cannot be called, with the remedy. */
function describeInactive ({ registry }: Pick<FastifyInstance, 'registry'>, type: string): string {
  const isInstalled = registry.records.some(({ kind, key }) => kind === 'channel' && key === type)
  return isInstalled
    ? `The channel plugin '${type}' is not active; ask an administrator, for whom svc plugins shows the reason`
    : `The channel plugin '${type}' is not installed; ask an administrator to run svc plugins add with its package and to ` +
      'restart the server, or delete the channel'
}

/**
 * Calls the code of channel plugins, which runs in the scan worker only. An error of a plugin becomes a failed result.
 */
export function createHost (app: FastifyInstance, config: Config) {
  const http = createChannelHttp(app)
  const preferences = readPreferences(config)

  function open (loaded: Loaded<ChannelDefinition>, subject: ChannelSubject, signal: AbortSignal): ChannelContext {
    const context = loaded.context(
      { signal, memo: createMemo(), preferences, throwsRateLimits: true }
    ) as ChannelContext
    return { ...context, http: http.open(loaded, subject, context) }
  }

  async function call<Value> (
    subject: ChannelSubject, signal: AbortSignal, work: ChannelCall<Value>
  ): Promise<CallResult<Value>> {
    const loaded = app.registry.channels.get(subject.type)
    if (loaded === undefined) {
      const message = describeInactive(app, subject.type)
      return { ok: false, failure: { message, is_invalid: false, is_refused: true, retry_after_ms: 0 } }
    }
    const { definition } = loaded
    if (definition.adminOnly === true && !subject.is_admin) {
      const message = `Only administrators may have a channel of the type '${subject.type}'`
      return { ok: false, failure: { message, is_invalid: true, is_refused: true, retry_after_ms: 0 } }
    }
    try {
      const ms = definition.limits?.timeoutMs ?? DEFAULT_TIMEOUT_MS
      const value = await limitTime('The channel took longer than', ms, signal,
        (limited) => work(definition, open(loaded, subject, limited), loaded))
      return { ok: true, value }
    } catch (err) {
      // Rethrow our own abort: it is not a failure of the delivery.
      signal.throwIfAborted()
      const failure = explain(err, secretsOf(loaded, subject))
      const shown = hideNetwork(err, subject)
      if (shown === null) return { ok: false, failure }
      app.log.warn({ reason: failure.message, channel: definition.key }, 'channel failed; its owner sees only a part of the error')
      return { ok: false, failure: { ...failure, message: shown } }
    }
  }

  return {
    /** Checks settings. @returns the view and destination to store with them */
    inspect: (subject: ChannelSubject, signal: AbortSignal) =>
      call(subject, signal, (_definition, ctx, loaded) => inspectSettings(app.log, loaded, subject, ctx)),

    deliver: (subject: ChannelSubject, notification: OutgoingNotification, signal: AbortSignal) =>
      call(subject, signal, (definition, ctx) =>
        definition.deliver(cutNotification(notification, definition.limits), subject.settings as never, ctx)),

    confirm: (subject: ChannelSubject, code: string, signal: AbortSignal) =>
      call(subject, signal, async (definition, ctx) => await definition.confirm?.(code, subject.settings, ctx)),

    services: (subject: ChannelSubject, signal: AbortSignal) =>
      call(subject, signal, async (definition, ctx) => await definition.services?.(ctx) ?? []),

    /** Returns null for a URL that no service understands. */
    parse: (subject: ChannelSubject, url: string, signal: AbortSignal) =>
      call(subject, signal, async (definition, ctx) => await definition.parse?.(url, ctx) ?? null)
  }
}
export type Host = ReturnType<typeof createHost>
