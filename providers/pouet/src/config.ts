import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'POUET_API_ENABLED', description: 'Enables lookups at Pouët' })
})

export type PouetContext = ProviderContextOf<typeof ConfigSchema>
