import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { Context } from './context.ts'

/** The version of this contract. The package.json of a plugin names the range of versions that the plugin supports. */
export const SDK_VERSION = '1.0.0'

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

/** The options that the host passes when it registers a plugin. */
export interface HostOptions {
  context: Context
  accept (kind: PluginKind, definition: unknown): void
}

interface HostInstance { addHook (name: 'onClose', hook: () => Promise<void>): unknown }

/** A plugin as exported: its definition and, at the same time, a Fastify plugin that the host registers. */
export interface Plugin<Kind extends PluginKind, Definition> {
  (instance: HostInstance, options: HostOptions): Promise<void>
  readonly kind: Kind
  readonly definition: Definition
}

/** The part of every definition that registration needs. */
interface Lifecycle {
  setup?(ctx: Context<never>): Promise<void>
  close?(): Promise<void>
}

export function createPlugin<Kind extends PluginKind, Definition extends Lifecycle> (
  kind: Kind, definition: Definition
): Plugin<Kind, Definition> {
  async function plugin (instance: HostInstance, options: HostOptions) {
    await definition.setup?.(options.context as Context<never>)
    const close = definition.close?.bind(definition)
    if (close !== undefined) instance.addHook('onClose', close)
    options.accept(kind, definition)
  }
  return Object.assign(plugin, { kind, definition })
}
