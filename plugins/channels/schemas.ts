import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, NameText, StoredText, StringEnum } from '../../core/typebox.ts'
import { MIN_LEVELS } from './entities.ts'

export const TOPICS = ['scans', 'tasks', 'streaming', 'devices', 'account', 'custom'] as const

const Fields = Type.Object({}, { additionalProperties: true })

export const NotificationChannelSchema = Type.Object({
  id: Type.Integer(),
  type: Type.String({ description: 'Key of the channel plugin: webhook, email, apprise or another' }),
  name: Type.String(),
  enabled: Type.Boolean(),
  min_level: StringEnum(MIN_LEVELS),
  topics: Nullable(Type.Array(Type.String(), { description: 'Null for all topics' })),
  target: Type.String({ description: 'The destination without secrets; empty if its settings must be entered again' }),
  service: Nullable(Type.String()),
  service_name: Nullable(Type.String()),
  fields: Nullable(Fields),
  stored_secrets: Nullable(Type.Array(Type.String(), { description: 'Names of the secret fields that are set' })),
  has_secret: Type.Boolean(),
  confirmed: Type.Boolean(),
  last_delivered_at: Nullable(DateTime),
  last_error: Nullable(Type.String()),
  consecutive_failures: Type.Integer(),
  created_at: DateTime
}, { title: 'NotificationChannel' })
export type ChannelView = Static<typeof NotificationChannelSchema>

const Name = NameText({ minLength: 1, maxLength: 100 })
const Topics = Nullable(Type.Array(StringEnum(TOPICS), { maxItems: TOPICS.length, description: 'Null for all topics' }))

export const CreateChannelSchema = Type.Object({
  type: StoredText({ minLength: 1, maxLength: 64, description: 'Key of the channel plugin' }),
  name: Name,
  min_level: Type.Optional(Nullable(StringEnum(MIN_LEVELS, { default: 'info' }))),
  topics: Type.Optional(Topics)
}, { title: 'CreateChannel', additionalProperties: true, description: 'Further fields are the settings of the type, as in the schema channel_<type>_settings' })
export type CreateChannel = Static<typeof CreateChannelSchema>

export const UpdateChannelSchema = Type.Object({
  name: Type.Optional(Nullable(Name)),
  enabled: Type.Optional(Nullable(Type.Boolean())),
  min_level: Type.Optional(Nullable(StringEnum(MIN_LEVELS))),
  topics: Type.Optional(Topics)
}, {
  title: 'UpdateChannel',
  additionalProperties: true,
  description: 'Further fields are the settings to change. A missing or null field stays, but null in topics means all topics, and null or an ' +
    'empty text in a secret deletes it'
})
export type UpdateChannel = Static<typeof UpdateChannelSchema>

export const TestResultSchema = Type.Object({ ok: Type.Boolean(), error: Nullable(Type.String()) }, { title: 'TestResult' })
export type TestResult = Static<typeof TestResultSchema>

export const CodeSchema = Type.Object({ code: Type.String({ minLength: 1, maxLength: 16 }) }, { title: 'Code' })

const FieldValue = Nullable(Type.Union([Type.Boolean(), Type.Number(), Type.String(), Type.Array(Type.String())]))

const AppriseFieldSchema = Type.Object({
  key: Type.String(),
  label: Type.String(),
  type: StringEnum(['string', 'int', 'float', 'bool', 'choice', 'list']),
  required: Type.Boolean(),
  private: Type.Boolean({ description: 'A secret' }),
  advanced: Type.Boolean({ description: 'An option, not part of the address' }),
  default: FieldValue,
  values: Nullable(Type.Array(Type.String())),
  min: Nullable(Type.Number()),
  max: Nullable(Type.Number())
}, { title: 'AppriseField' })

export const AppriseServiceSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  setup_url: Nullable(Type.String()),
  url_fields: Type.Array(Type.String(), { description: 'Fields that the URL of the service contains' }),
  fields: Type.Array(AppriseFieldSchema)
}, { title: 'AppriseService' })
export type AppriseService = Static<typeof AppriseServiceSchema>

export const ParseSchema = Type.Object({ url: Type.String({ minLength: 1, maxLength: 2_000 }) }, { title: 'Parse' })
export const ParsedSchema = Type.Object({
  service: Type.String(),
  fields: Fields,
  warnings: Type.Array(Type.String(), { description: 'Options of the URL that are not supported and were skipped' })
}, { title: 'Parsed' })
export type Parsed = Static<typeof ParsedSchema>
