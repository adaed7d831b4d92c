import type { FastifyInstance } from 'fastify'
import { databaseNow } from '../database/clock.ts'
import type { ProcessMessage } from './messages.ts'

const CHECK_MS = 5_000

interface IdleWatchOptions {
  app: Pick<FastifyInstance, 'jobs' | 'log' | 'rest'>
  /** The time without work after which the worker asks to rest. */
  restMs: number
  report (message: ProcessMessage): Promise<void>
}

/**
 * Asks the supervisor to let the scan worker rest, again and again while it has no work.
 *
 * @returns a function that stops this
 */
export function watchIdle ({ app, restMs, report }: IdleWatchOptions): () => void {
  let idleSince: number | null = null
  let isChecking = false

  async function check (): Promise<void> {
    if (await app.rest.findWork() !== null) {
      idleSince = null
      return
    }
    idleSince = Math.max(idleSince ?? performance.now(), app.jobs.endedAt())
    if (performance.now() - idleSince < restMs) return
    const next = await app.rest.findNext()
    // A shorter rest is not worth its start.
    if (next === null || next - databaseNow() > restMs) await report({ type: 'idle', wake_at: next })
  }

  const timer = setInterval(() => {
    if (isChecking) return
    isChecking = true
    check().catch((err: unknown) => { app.log.debug({ err }, 'the scan worker could not look for work') })
      .finally(() => { isChecking = false })
  }, Math.min(CHECK_MS, restMs))
  return () => { clearInterval(timer) }
}
