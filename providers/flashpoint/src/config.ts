import { type ContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'FLASHPOINT_API_ENABLED', description: 'Whether the Flashpoint Archive is asked' })
})

export type FlashpointContext = ContextOf<typeof ConfigSchema>
