import { type ContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'PLAYMATCH_API_ENABLED', description: 'Whether Playmatch is asked' }),
  baseUrl: Type.String({
    default: 'https://playmatch.retrorealm.dev/api/v2',
    pattern: '^https?://',
    env: 'PLAYMATCH_API_URL',
    description: 'Address of the API; change it for a server of your own'
  })
})

export type PlaymatchContext = ContextOf<typeof ConfigSchema>
