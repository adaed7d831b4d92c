import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { Context } from './context.ts'

/** The version of this contract. A plugin names the range it was written for in its package.json. */
export const SDK_VERSION = '1.0.0'

export type PluginKind = 'provider' | 'channel' | 'exporter'

/** What all three kinds of plugin share. */
export interface PluginDefinition<Config extends TProperties = TProperties> {
  /** Lower-case letters, digits and `-`; equal to the `key` in the package's manifest and, here, the folder's name. */
  key: string
  /** Display name. */
  name: string
  /**
   * Schema of the configuration. `writeOnly: true` marks a secret; `env: 'NAME'` names the environment variable that
   * sets the property. A property that is required and not set makes the plugin `disabled`, never an error. A boolean
   * property `enabled` switches the plugin.
   */
  config?: TObject<Config>
  /**
   * What is still to be set before it is of any use, such as `DEMO_KEY or DEMO_FOLDER`, where the schema cannot say so.
   * The plugin is `disabled` until then.
   */
  missing?(config: Static<TObject<Config>>): string | undefined
  /** Called once before first use. A throw makes the plugin `failed`; the server goes on. */
  setup?(ctx: Context<Static<TObject<Config>>>): Promise<void>
  /** Called when the server stops. */
  close?(): Promise<void>
}

/** What the host passes when it registers a plugin. */
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

/** The part of every definition that registering needs. */
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
