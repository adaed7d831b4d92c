import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'HASHEOUS_API_ENABLED', description: 'Enables lookups at Hasheous' }),
  baseUrl: Type.String({
    default: 'https://hasheous.org/api/v1',
    pattern: '^https?://',
    env: 'HASHEOUS_API_URL',
    description: 'URL of the API; change it for your own server'
  }),
  clientApiKey: Type.Optional(Type.String({
    env: 'HASHEOUS_CLIENT_API_KEY',
    writeOnly: true,
    description: 'Application key; only the texts and pictures of IGDB need it'
  }))
})

export type HasheousContext = ProviderContextOf<typeof ConfigSchema>
