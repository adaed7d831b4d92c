import type { ChannelDefinition, Context } from '@svc/plugin-sdk'
import type { FastifyBaseLogger } from 'fastify'
import type { Loaded } from '../../../core/loader/registry.ts'
import { cleanMessage, secretsOf } from './channel-failures.ts'
import type { ChannelSubject } from './http.ts'
import { type CheckedSettings, UNREADABLE } from '../sealed-settings.ts'

/** The plugin's own configuration was checked against its schema at load time. */
export type ChannelContext = Context<Record<string, unknown>>

const isService = (value: unknown): value is { id: string, name: string } =>
  typeof value === 'object' && value !== null && 'id' in value && 'name' in value && typeof value.name === 'string'

async function describe (
  log: FastifyBaseLogger, loaded: Loaded<ChannelDefinition>, subject: ChannelSubject
): Promise<string> {
  const { definition } = loaded
  try {
    return await definition.describe(subject.settings)
  } catch (err) {
    const reason = cleanMessage(err, secretsOf(loaded, subject))
    log.warn({ reason, channel: definition.key }, 'channel could not describe its settings')
    return ''
  }
}

/** Checks settings with their plugin. @returns the view and destination to store with them */
export async function inspectSettings (
  log: FastifyBaseLogger, loaded: Loaded<ChannelDefinition>, given: ChannelSubject, ctx: ChannelContext
): Promise<CheckedSettings> {
  const { definition } = loaded
  const { settings } = given
  await definition.check?.(settings, ctx)
  const subject = { ...given, secret_keys: await definition.secretKeys?.(settings) ?? [] }
  const marked = Object.entries(definition.settings.properties).filter(([, schema]) => schema.writeOnly === true)
  const target = await describe(log, loaded, subject)
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
