import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { isUnavailable } from '../database/errors.ts'

const RETRY_MS = 2_000

interface Options {
  log: Pick<FastifyBaseLogger, 'error' | 'info'>
  /** Asks the database anything; fails as long as the database is unreachable. */
  ask: () => Promise<unknown>
  signal: AbortSignal
  retryMs?: number
}

/** Converts a failure to an error, because pg-boss copies the members of most errors into plain objects. */
const toError = (failure: unknown): Error => failure instanceof Error
  ? failure
  : Object.assign(new Error(), failure)

/**
 * Creates the function that logs failures of the job queue. Each queue polls the database, so an unreachable database
 * is logged once, and once more when it is back.
 */
export function createFailureLog ({ log, ask, signal, retryMs = RETRY_MS }: Options): (failure: unknown) => void {
  let isDown = false

  async function awaitDatabase (): Promise<void> {
    while (!signal.aborted) {
      const isBack = await ask().then(() => true, (err: unknown) => !isUnavailable(err))
      if (isBack) break
      await sleep(retryMs, undefined, { signal, ref: false }).catch(() => {})
    }
    isDown = false
    if (!signal.aborted) log.info('the job queue reaches the database again')
  }

  return (failure) => {
    const err = toError(failure)
    if (!isUnavailable(err)) {
      log.error({ err }, 'job queue failed')
    } else if (!isDown) {
      isDown = true
      log.error(`the job queue cannot reach the database and tries again: ${err.message}`)
      void awaitDatabase()
    }
  }
}
