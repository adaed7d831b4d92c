import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'STEAM_API_ENABLED', description: 'Enables lookups at the Steam store' }),
  country: Type.String({
    default: 'us', pattern: '^[a-z]{2}$', env: 'STEAM_COUNTRY', description: 'Country of the store, in two letters'
  })
})

export type SteamContext = ProviderContextOf<typeof ConfigSchema>
