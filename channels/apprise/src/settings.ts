import { type Context, type Static, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  apiUrl: Type.Optional(Type.String({
    env: 'SVC_APPRISE_API_URL',
    pattern: '^https?://',
    description: 'URL of an Apprise API server, whose services all become available'
  }))
})

export type AppriseContext = Context<Static<typeof ConfigSchema>>

const MAX_FIELDS = 64
const MAX_ENTRIES = 100

const ValueSchema = Type.Union([
  Type.Boolean(), Type.Number(), Type.String({ maxLength: 2000 }),
  Type.Array(Type.String({ maxLength: 2000 }), { maxItems: MAX_ENTRIES })
])

export const SettingsSchema = Type.Object({
  service: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the service: its first URL schema' }),
  fields: Type.Record(Type.String(), ValueSchema, {
    maxProperties: MAX_FIELDS, description: 'Values of the fields of the service; `secretKeys` names the secrets'
  })
})

export type Settings = Static<typeof SettingsSchema>
