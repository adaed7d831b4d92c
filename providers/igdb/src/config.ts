import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  clientId: Type.String({
    minLength: 1, env: 'IGDB_CLIENT_ID', description: 'Client id of your Twitch developer application'
  }),
  clientSecret: Type.String({
    minLength: 1, env: 'IGDB_CLIENT_SECRET', writeOnly: true, description: 'Client secret of the same application'
  })
})

export type IgdbContext = ProviderContextOf<typeof ConfigSchema>
