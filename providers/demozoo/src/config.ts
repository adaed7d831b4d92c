import { type ContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'DEMOZOO_API_ENABLED', description: 'Whether Demozoo is asked' })
})

export type DemozooContext = ContextOf<typeof ConfigSchema>
