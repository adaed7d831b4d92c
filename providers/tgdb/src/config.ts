import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: true, env: 'TGDB_API_ENABLED', description: 'Enables lookups at TheGamesDB' }),
  apiKey: Type.String({ minLength: 1, env: 'TGDB_API_KEY', writeOnly: true, description: 'Your API key' })
})

export type TgdbContext = ProviderContextOf<typeof ConfigSchema>
