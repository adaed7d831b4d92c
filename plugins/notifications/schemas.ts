import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Id, NameText, Nullable, StoredText, StringEnum } from '../../core/typebox.ts'
import { INBOX_MAX, LEVELS } from './entities.ts'

const RECIPIENTS_MAX = 10_000

const ActorSchema = Type.Object({
  id: Type.Integer(), username: Type.String(), avatar_path: Type.String(), updated_at: DateTime
}, { title: 'Actor' })

export const NotificationSchema = Type.Object({
  id: Type.Integer(),
  kind: Type.String(),
  level: StringEnum(LEVELS),
  title: Nullable(Type.String({ description: 'Null for built-in kinds, whose text clients create from data' })),
  body: Nullable(Type.String()),
  link: Nullable(Type.String({ description: 'A path inside the service' })),
  icon: Nullable(Type.String({ description: 'A Material Design Icons name' })),
  data: Type.Object({}, { additionalProperties: true }),
  actor: Nullable(ActorSchema),
  read_at: Nullable(DateTime),
  created_at: DateTime
}, { title: 'Notification' })
export type NotificationView = Static<typeof NotificationSchema>

export const SendNotificationSchema = Type.Object({
  title: NameText({ minLength: 1, maxLength: 255 }),
  body: Type.Optional(Nullable(StoredText({ maxLength: 1_000 }))),
  level: Type.Optional(StringEnum(LEVELS, { default: 'info' })),
  kind: Type.Optional(Type.String({
    default: 'custom',
    maxLength: 64,
    pattern: '^[a-z0-9][a-z0-9_.:-]*$',
    description: 'A kind of your own; built-in kinds are refused'
  })),
  link: Type.Optional(Nullable(Type.String({ maxLength: 1_000, description: 'A path inside the service, such as /rom/7' }))),
  icon: Type.Optional(Nullable(Type.String({
    maxLength: 64, pattern: '^mdi-[a-z0-9-]+$', description: 'A Material Design Icons name'
  }))),
  data: Type.Optional(Type.Object({}, {
    additionalProperties: true, description: 'At most 4096 characters as JSON; webhooks get it unchanged'
  })),
  recipients: Type.Optional(Type.Union([
    Type.Null(), Type.Array(Id, { minItems: 1, maxItems: RECIPIENTS_MAX }), StringEnum(['admins', 'all'])
  ], { description: 'Ids of users, `admins` or `all`; null for yourself. Only administrators with users.write may send to others' }))
}, { title: 'SendNotification' })
export type SendNotification = Static<typeof SendNotificationSchema>

export const ReadSchema = Type.Object({
  ids: Type.Optional(Nullable(Type.Array(Id, { maxItems: INBOX_MAX, description: 'Null for all' })))
}, { title: 'Read' })
