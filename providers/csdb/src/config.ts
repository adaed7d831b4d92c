import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'CSDB_API_ENABLED', description: 'Enables lookups at CSDb' })
})

export type CsdbContext = ProviderContextOf<typeof ConfigSchema>
