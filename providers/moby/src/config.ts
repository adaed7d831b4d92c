import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const API_HOST = 'api.mobygames.com'

export const ConfigSchema = Type.Object({
  apiKey: Type.String({
    minLength: 1, env: 'MOBYGAMES_API_KEY', writeOnly: true, description: 'API key of your MobyGames account'
  }),
  secondsPerRequest: Type.Number({
    default: 5,
    minimum: 1,
    env: 'MOBYGAMES_SECONDS_PER_REQUEST',
    description: 'Seconds between two requests in your plan, until a response of MobyGames states the limit of the key'
  })
})

export type MobyContext = ProviderContextOf<typeof ConfigSchema>
