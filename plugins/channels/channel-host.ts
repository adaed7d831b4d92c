import {
  type ChannelDefinition, type Context, CredentialsRefusedError, DeliveryRefusedError, InvalidSettingsError,
  type OutgoingNotification, RateLimitedError, ServiceDownError
} from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import { AddressRefusedError } from '../../core/http/addresses.ts'
import type { Config } from '../../core/config/config.ts'
import { createMask } from '../../core/http/mask.ts'
import { limitTime } from '../../core/limit-time.ts'
import { readPreferences } from '../../core/loader/context.ts'
import { createMemo } from '../../core/loader/memo.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import { type ChannelSubject, createChannelHttp, listAddresses, listSecrets } from './http.ts'
import { cutNotification } from './render.ts'
import { type CheckedSettings, UNREADABLE } from './sealed-settings.ts'

/** The reason why a plugin call failed, in words that may be shown. */
export interface Failure {
  message: string
  /** True if the settings cannot be used; a retry is useless. */
  is_invalid: boolean
  /** True if certainly nothing was sent. */
  is_refused: boolean
  /** Delay before the next try that the destination asked for. */
  retry_after_ms: number
}
export type CallResult<Value> = { ok: true, value: Value } | { ok: false, failure: Failure }

export const DEFAULT_TIMEOUT_MS = 30_000
const ERROR_CHARACTERS = 500

/** Returns the message of an error as one line without secrets. */
function cleanMessage (err: unknown, secrets: readonly string[]): string {
  const text = createMask(secrets).text(err instanceof Error ? err.message : String(err))
  const line = text.replace(/[\s\p{C}]+/gu, ' ').trim().slice(0, ERROR_CHARACTERS).toWellFormed()
  return line === '' ? 'The channel failed without an error message' : line
}

const REFUSALS = [InvalidSettingsError, AddressRefusedError, CredentialsRefusedError, DeliveryRefusedError]

/** A plugin may report any value, even one that is not a number. */
const readRetryAfter = (err: unknown) =>
  err instanceof RateLimitedError && Number.isFinite(err.retryAfterMs) ? Number(err.retryAfterMs) : 0

function explain (err: unknown, secrets: readonly string[]): Failure {
  return {
    message: cleanMessage(err, secrets),
    is_invalid: err instanceof InvalidSettingsError,
    is_refused: REFUSALS.some((refusal) => err instanceof refusal),
    retry_after_ms: readRetryAfter(err)
  }
}

const ELSEWHERE = 'the log of the server has the reason; ask an administrator'

/**
 * Returns a replacement for an error that reveals the server's network to somebody who is not an administrator; null to
 * show the error. Such errors contain the address of a name, or the response of a service that the settings do not
 * name, which is the server's own.
 */
function hideNetwork (err: unknown, { settings, is_admin: isAdmin }: ChannelSubject): string | null {
  if (isAdmin) return null
  if (err instanceof AddressRefusedError) return 'The address is not in the public internet and is refused; use a public one'
  if (listAddresses(settings).length > 0) return null
  if (err instanceof DeliveryRefusedError) return `The service of the server refused the message; check the destination. Otherwise ${ELSEWHERE}`
  const isDown = err instanceof ServiceDownError || err instanceof CredentialsRefusedError
  return isDown ? `The service of the server did not accept the message; ${ELSEWHERE}` : null
}

const isService = (value: unknown): value is { id: string, name: string } =>
  typeof value === 'object' && value !== null && 'id' in value && 'name' in value && typeof value.name === 'string'

/** The plugin's own configuration was checked against its schema at load time. */
type ChannelContext = Context<Record<string, unknown>>
type ChannelCall<Value> = (
  definition: ChannelDefinition, ctx: ChannelContext, loaded: Loaded<ChannelDefinition>
) => Promise<Value>

const secretsOf = ({ trust, definition }: Loaded<ChannelDefinition>, subject: ChannelSubject) =>
  [...trust.secrets, ...listSecrets(subject, definition)]

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
      const message = `The channel plugin '${subject.type}' is not active; ask an administrator, for whom svc plugins shows the reason`
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

  async function describe (loaded: Loaded<ChannelDefinition>, subject: ChannelSubject): Promise<string> {
    const { definition } = loaded
    try {
      return await definition.describe(subject.settings)
    } catch (err) {
      const reason = cleanMessage(err, secretsOf(loaded, subject))
      app.log.warn({ reason, channel: definition.key }, 'channel could not describe its settings')
      return ''
    }
  }

  async function inspect (
    loaded: Loaded<ChannelDefinition>, given: ChannelSubject, ctx: ChannelContext
  ): Promise<CheckedSettings> {
    const { definition } = loaded
    const { settings } = given
    await definition.check?.(settings, ctx)
    const subject = { ...given, secret_keys: await definition.secretKeys?.(settings) ?? [] }
    const marked = Object.entries(definition.settings.properties).filter(([, schema]) => schema.writeOnly === true)
    const target = await describe(loaded, subject)
    const destination = await definition.destination?.(settings) ?? target
    const view = {
      target,
      has_secret: marked.some(([name]) => settings[name] !== undefined && settings[name] !== '')
    }
    if (definition.secretKeys === undefined) return { destination, view: { ...UNREADABLE, ...view } }
    const secret = new Set(subject.secret_keys)
    const fields = Object.entries((settings.fields ?? {}) as Record<string, unknown>)
    const service = String(settings.service)
    const services = (await definition.services?.(ctx) ?? []).filter(isService)
    return {
      destination,
      view: {
        ...view,
        service,
        service_name: services.find(({ id }) => id === service)?.name ?? null,
        fields: Object.fromEntries(fields.filter(([key]) => !secret.has(key))),
        stored_secrets: fields.map(([key]) => key).filter((key) => secret.has(key))
      }
    }
  }

  return {
    /** Checks settings. @returns the view and destination to store with them */
    inspect: (subject: ChannelSubject, signal: AbortSignal) =>
      call(subject, signal, (_definition, ctx, loaded) => inspect(loaded, subject, ctx)),

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
