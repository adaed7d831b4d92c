import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'FLASHPOINT_API_ENABLED', description: 'Enables lookups at the Flashpoint Archive' })
})

export type FlashpointContext = ProviderContextOf<typeof ConfigSchema>
