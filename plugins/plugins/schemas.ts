import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum } from '../../core/typebox.ts'
import { CircuitSchema } from '../circuits/schemas.ts'

export const PluginSchema = Type.Object({
  kind: Nullable(StringEnum(['provider', 'channel', 'exporter'])),
  key: Type.String(),
  name: Type.String(),
  package: Type.String(),
  version: Nullable(Type.String()),
  status: StringEnum(['active', 'disabled', 'unsupported', 'failed']),
  reason: Nullable(Type.String({ description: 'The reason why the plugin is not active, and the remedy; null if it is active' })),
  origin: StringEnum(['built-in', 'community']),
  seen_by: StringEnum(['worker', 'web'], {
    description: 'The process that reports it. Only the scan worker runs plugins; a web worker only reads their schemas'
  }),
  attribution: Nullable(Type.String({ description: "The credit that a provider's terms require, to be shown with its data" })),
  circuit: Nullable(CircuitSchema),
  allowances: Type.Array(Type.Object({
    name: Type.String({ description: 'The period or unit of the allowance, such as a day' }),
    remaining: Type.Number(),
    total: Nullable(Type.Number()),
    resets_at: DateTime
  }), { description: 'Remaining allowances that a provider reported' }),
  paused_until: Nullable(Type.String({
    format: 'date-time', description: 'The end of a pause after an allowance was used up; null without a pause'
  }))
}, { title: 'Plugin', description: 'Further properties may be added' })
export type PluginView = Static<typeof PluginSchema>

export const PluginParamsSchema = Type.Object({
  kind: StringEnum(['provider', 'channel', 'exporter'], { description: 'Kind of the plugin' }),
  key: Type.String({ description: 'Key of the plugin, as `GET /api/plugins` lists it' })
})
export type PluginParams = Static<typeof PluginParamsSchema>

export const PluginValuesSchema = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Value by setting, as in the schema `<kind>_<key>_config`. Absent settings get their default; an absent secret stays. Null removes a value'
})

export const PluginSettingsSchema = Type.Object({
  values: Type.Record(Type.String(), Type.Unknown(), { description: 'Value by setting, without secrets and without defaults' }),
  stored_secrets: Type.Array(Type.String(), { description: 'Names of the secrets that are stored. Their values are never sent' }),
  fixed: Type.Record(Type.String(), Type.String(), {
    description: 'Settings that can be changed only by the operator, with the variable or the path in config.yml that decides each'
  })
}, { title: 'PluginSettings' })
export type PluginSettingsView = Static<typeof PluginSettingsSchema>
