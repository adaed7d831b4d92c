import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { Context } from './context.ts'

/** The version of this contract. The package.json of a plugin names the range of versions that the plugin supports. */
export const SDK_VERSION = '2.0.0'

/** The kinds of plugin; the manifest and the definition state the same one. */
export type PluginKind = 'provider' | 'channel' | 'exporter'

/** The properties that all three kinds of plugin share. */
export interface PluginDefinition<Config extends TProperties = TProperties> {
  /** Lower-case letters, digits and `-`; equal to the `key` in the package's manifest and, here, the folder's name. */
  key: string
  /** Display name. */
  name: string
  /**
   * Schema of the configuration. `writeOnly: true` marks a secret; `env: 'NAME'` names the environment variable that
   * sets the property. A missing required property makes the plugin `disabled` and is never an error. A boolean
   * property `enabled` switches the plugin on or off.
   */
  config?: TObject<Config>
  /**
   * Names the settings that are still missing, such as `DEMO_KEY or DEMO_FOLDER`, when the schema cannot express the
   * rule. The plugin is `disabled` until they are set.
   */
  missing?(config: Static<TObject<Config>>): string | undefined
  /** Called once before first use. A throw makes the plugin `failed`; the server continues. */
  setup?(ctx: Context<Static<TObject<Config>>>): Promise<void>
  /** Called when the server stops. */
  close?(): Promise<void>
}

/** A plugin as a package exports it: data and methods. The host reads the definition and calls its methods. */
export interface Plugin<Kind extends PluginKind, Definition> {
  readonly kind: Kind
  readonly definition: Definition
}
