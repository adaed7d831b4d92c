import type { PluginStatus } from './registry.ts'

/** Why a plugin is left out, as its owner reads it. */
export class LoadError extends Error {
  readonly status: PluginStatus

  constructor (status: PluginStatus, message: string) {
    super(message)
    this.status = status
  }
}
