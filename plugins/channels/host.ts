import {
  type ChannelDefinition, type Context, DeliveryRefusedError, InvalidSettingsError, type OutgoingNotification,
  RateLimitedError
} from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import { AddressRefusedError } from '../../core/addresses.ts'
import type { Config } from '../../core/config.ts'
import { createMask } from '../../core/http-mask.ts'
import { createMemo, readPreferences } from '../../core/plugin-context.ts'
import type { Loaded } from '../../core/registry.ts'
import { type Subject, createChannelHttp, listSecrets } from './http.ts'
import { fitNotification } from './render.ts'
import { type SettingsView, UNREADABLE } from './sealed.ts'

/** Why a call of a plugin came to nothing, in words that may be shown. */
export interface Failure {
  message: string
  /** The settings are wrong. */
  is_invalid: boolean
  /** Trying again is useless. */
  is_final: boolean
  /** How long the destination asked to be left alone. */
  retry_after_ms: number
}
export type Outcome<Value> = { ok: true, value: Value } | { ok: false, failure: Failure }

const DEFAULT_TIMEOUT_MS = 30_000
const ERROR_CHARACTERS = 500

/** Runs work that ends with its time, whether or not it heeds the signal. @throws the signal's reason */
async function within<Value> (
  ms: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Value>
): Promise<Value> {
  const timer = new AbortController()
  const timeout = setTimeout(() => timer.abort(new Error(`The channel took longer than ${ms / 1_000} s`)), ms)
  const either = AbortSignal.any([signal, timer.signal])
  const { promise, reject } = Promise.withResolvers<never>()
  either.addEventListener('abort', () => { reject(either.reason as Error) }, { once: true })
  try {
    either.throwIfAborted()
    return await Promise.race([work(either), promise])
  } finally {
    clearTimeout(timeout)
  }
}

/** One line that shows nothing secret. */
function cleanMessage (err: unknown, secrets: readonly string[]): string {
  const text = createMask(secrets).text(err instanceof Error ? err.message : String(err))
  const line = text.replace(/[\s\p{C}]+/gu, ' ').trim().slice(0, ERROR_CHARACTERS).toWellFormed()
  return line === '' ? 'The channel failed without a word' : line
}

function explain (err: unknown, secrets: readonly string[]): Failure {
  const isInvalid = err instanceof InvalidSettingsError || err instanceof AddressRefusedError
  return {
    message: cleanMessage(err, secrets),
    is_invalid: isInvalid,
    is_final: isInvalid || err instanceof DeliveryRefusedError,
    retry_after_ms: err instanceof RateLimitedError ? err.retryAfterMs ?? 0 : 0
  }
}

const isService = (value: unknown): value is { id: string, name: string } =>
  typeof value === 'object' && value !== null && 'id' in value && 'name' in value && typeof value.name === 'string'

/** The plugin's own configuration was checked against its schema when it was loaded. */
type ChannelContext = Context<Record<string, unknown>>
type Call<Value> = (definition: ChannelDefinition, ctx: ChannelContext) => Promise<Value>

/** Calls the code of channel plugins, which runs in the scan worker only. What it throws is an outcome. */
export function createHost (app: FastifyInstance, config: Config) {
  const http = createChannelHttp(app)
  const preferences = readPreferences(config)

  function open (loaded: Loaded<ChannelDefinition>, subject: Subject, signal: AbortSignal): ChannelContext {
    const context = loaded.context({ signal, memo: createMemo(), preferences, heedsLimits: true }) as ChannelContext
    return { ...context, http: http.open(loaded, subject, context) }
  }

  async function call<Value> (subject: Subject, signal: AbortSignal, work: Call<Value>): Promise<Outcome<Value>> {
    const loaded = app.registry.channels.get(subject.type)
    if (loaded === undefined) {
      const message = `The channel plugin '${subject.type}' is not active; an administrator finds the reason with svc plugins list`
      return { ok: false, failure: { message, is_invalid: false, is_final: false, retry_after_ms: 0 } }
    }
    const { definition } = loaded
    if (definition.adminOnly === true && !subject.is_admin) {
      const message = `Only administrators may have a channel of the type '${subject.type}'`
      return { ok: false, failure: { message, is_invalid: true, is_final: true, retry_after_ms: 0 } }
    }
    try {
      const ms = definition.limits?.timeoutMs ?? DEFAULT_TIMEOUT_MS
      const value = await within(ms, signal, (limited) => work(definition, open(loaded, subject, limited)))
      return { ok: true, value }
    } catch (err) {
      // Nobody is told of an end that came from here.
      signal.throwIfAborted()
      return { ok: false, failure: explain(err, [...loaded.trust.secrets, ...listSecrets(subject, definition)]) }
    }
  }

  function describe (definition: ChannelDefinition, settings: never): string {
    try {
      return definition.describe(settings)
    } catch (err) {
      app.log.warn({ reason: cleanMessage(err, []), channel: definition.key }, 'channel could not describe its settings')
      return ''
    }
  }

  async function readView (
    definition: ChannelDefinition, { settings }: Subject, ctx: ChannelContext
  ): Promise<SettingsView> {
    await definition.check?.(settings, ctx)
    const marked = Object.entries(definition.settings.properties).filter(([, schema]) => schema.writeOnly === true)
    const view = {
      target: describe(definition, settings as never),
      has_secret: marked.some(([name]) => settings[name] !== undefined && settings[name] !== '')
    }
    if (definition.secretKeys === undefined) return { ...UNREADABLE, ...view }
    const secret = new Set(definition.secretKeys(settings))
    const fields = Object.entries((settings.fields ?? {}) as Record<string, unknown>)
    const service = String(settings.service)
    const services = (await definition.services?.(ctx) ?? []).filter(isService)
    return {
      ...view,
      service,
      service_name: services.find(({ id }) => id === service)?.name ?? null,
      fields: Object.fromEntries(fields.filter(([key]) => !secret.has(key))),
      stored_secrets: fields.map(([key]) => key).filter((key) => secret.has(key))
    }
  }

  return {
    /** Checks settings. @returns what may be shown of them */
    inspect: (subject: Subject, signal: AbortSignal) =>
      call(subject, signal, (definition, ctx) => readView(definition, subject, ctx)),

    deliver: (subject: Subject, notification: OutgoingNotification, signal: AbortSignal) =>
      call(subject, signal, (definition, ctx) =>
        definition.deliver(fitNotification(notification, definition.limits), subject.settings as never, ctx)),

    confirm: (subject: Subject, code: string, signal: AbortSignal) =>
      call(subject, signal, async (definition, ctx) => await definition.confirm?.(code, subject.settings, ctx)),

    services: (subject: Subject, signal: AbortSignal) =>
      call(subject, signal, async (definition, ctx) => await definition.services?.(ctx) ?? []),

    /** Null for an address that nobody understands. */
    parse: (subject: Subject, url: string, signal: AbortSignal) =>
      call(subject, signal, async (definition, ctx) => await definition.parse?.(url, ctx) ?? null)
  }
}
export type Host = ReturnType<typeof createHost>
