import { type Static, Type } from '@svc/plugin-sdk'

export const SettingsSchema = Type.Object({
  url: Type.String({
    minLength: 1, maxLength: 2000, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://', description: 'URL that receives the JSON as a POST'
  }),
  secret: Type.Optional(Type.String({
    writeOnly: true, maxLength: 255, description: 'Signs every request; leave it empty to send unsigned ones'
  })),
  // Only names without a standard meaning, because such a header cannot change the interpretation of the request.
  signature_header: Type.Optional(Type.String({
    maxLength: 64,
    pattern: '^(?:[Xx](?:-[A-Za-z0-9]+)+)?$',
    description: 'One more header with the signature, for receivers written for another server, such as X-Hub-Signature-256'
  }))
})
export type Settings = Static<typeof SettingsSchema>
