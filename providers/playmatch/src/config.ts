import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'PLAYMATCH_API_ENABLED', description: 'Enables lookups at Playmatch' }),
  baseUrl: Type.String({
    default: 'https://playmatch.retrorealm.dev/api/v2',
    pattern: '^https?://',
    env: 'PLAYMATCH_API_URL',
    description: 'URL of the API; change it for your own server'
  })
})

export type PlaymatchContext = ProviderContextOf<typeof ConfigSchema>
