import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  remote: Type.Boolean({
    default: false,
    env: 'LAUNCHBOX_API_ENABLED',
    description: 'Downloads and uses the public dump of the LaunchBox Games Database'
  }),
  installation: Type.Optional(Type.String({
    folder: true,
    env: 'LAUNCHBOX_FOLDER',
    description: 'Folder of a LaunchBox installation, the one that holds Data and Images; it is only read'
  }))
})

export const OptionsSchema = Type.Object({
  launchbox_remote_enabled: Type.Boolean({ default: true, description: 'false: only the local LaunchBox store is used' })
})

export type LaunchBoxContext = ProviderContextOf<typeof ConfigSchema, typeof OptionsSchema>

/** Returns true if the index of the dump may be used. */
export const usesDump = ({ config, options }: LaunchBoxContext): boolean =>
  config.remote && options.launchbox_remote_enabled
