import { NEVER, TimeLimitError, limitTime } from './limit-time.ts'
import type { PluginStatus } from './registry.ts'

/** Why a plugin is left out, as its owner reads it. */
export class LoadError extends Error {
  readonly status: PluginStatus

  constructor (status: PluginStatus, message: string) {
    super(message)
    this.status = status
  }
}

/** @throws LoadError when `work` does not end in time. */
export async function limitLoading<T> (what: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  try {
    return await limitTime(`${what} does not end within`, timeoutMs, NEVER, work)
  } catch (err) {
    throw err instanceof TimeLimitError ? new LoadError('failed', err.message) : err
  }
}
