import { NEVER, TimeLimitError, limitTime } from '../concurrency/limit-time.ts'
import { toPrintable } from './process/errors.ts'
import type { PluginStatus } from './registry.ts'

/** The longest reason, which may quote a text of the plugin. */
const REASON_MAX = 2_000

/** The reason for which a plugin was skipped, in words for the operator. */
export class LoadError extends Error {
  readonly status: PluginStatus

  constructor (status: PluginStatus, message: string) {
    super(toPrintable(message, REASON_MAX))
    this.status = status
  }
}

/** Limits the time of a loading step. @throws LoadError if `work` does not end in time. */
export async function limitLoading<T> (what: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  try {
    return await limitTime(`${what} does not end within`, timeoutMs, NEVER, work)
  } catch (err) {
    throw err instanceof TimeLimitError ? new LoadError('failed', err.message) : err
  }
}
