import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'DEMOZOO_API_ENABLED', description: 'Enables lookups at Demozoo' })
})

export type DemozooContext = ProviderContextOf<typeof ConfigSchema>
