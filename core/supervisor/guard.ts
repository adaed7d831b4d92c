import type { FastifyInstance } from 'fastify'
import { databaseNow } from '../database/clock.ts'
import { RESTING } from '../jobs/rest.ts'
import type { ProcessMessage } from './messages.ts'

/** Notifications announce most work; the interval is for times that come, and for lost notifications. */
const LOOK_MS = 5_000
/** The worker starts this long before a scheduled job is due. The scheduler forgets one that was due a minute ago. */
const LEAD_MS = 10_000
const FAILED = 'a failed look for work'

interface GuardOptions {
  app: Pick<FastifyInstance, 'log' | 'rest' | 'workers'>
  report (message: ProcessMessage): Promise<void>
}

/**
 * Creates the search for work in place of a resting scan worker. It holds a lock, by which all processes know that the
 * worker only rests. Every doubt wakes the worker.
 */
export function createGuard ({ app, report }: GuardOptions) {
  let wakeAt: number | null = null
  let release: (() => void) | null = null
  let timer: NodeJS.Timeout | undefined
  let isListening = false
  let isLooking = false
  let isLookRequested = false

  async function findReason (): Promise<string | null> {
    if (wakeAt !== null && databaseNow() >= wakeAt - LEAD_MS) return 'schedules'
    return await app.rest.findWork()
  }

  async function wake (reason: string): Promise<void> {
    clearInterval(timer)
    timer = undefined
    await report({ type: 'wake', reason })
  }

  async function look (): Promise<void> {
    if (timer === undefined) return
    isLookRequested = true
    if (isLooking) return
    isLooking = true
    try {
      while (isLookRequested && timer !== undefined) {
        isLookRequested = false
        const reason = await findReason()
        if (reason !== null) await wake(reason)
      }
    } catch (err) {
      app.log.debug({ err }, 'work for the resting scan worker could not be looked for')
      await wake(FAILED)
    } finally {
      isLooking = false
    }
  }

  const lookSoon = () => { void look() }

  function lock (): Promise<void> {
    const { promise: released, resolve } = Promise.withResolvers<undefined>()
    release = () => { resolve(undefined) }
    return new Promise((resolve, reject) => {
      app.workers.runLocked(RESTING, () => {
        resolve()
        return released
      }).catch(reject)
    })
  }

  async function open (): Promise<void> {
    if (release === null) await lock()
    const locked = release
    if (!isListening) {
      for (const channel of app.rest.listChannels()) await app.workers.listen(channel, lookSoon)
      isListening = true
    }
    const reason = await findReason()
    if (release === null || release !== locked) return
    if (reason !== null) {
      await wake(reason)
      return
    }
    timer ??= setInterval(lookSoon, LOOK_MS)
    await report({ type: 'guarding' })
    // Work that came before the timer was set announced itself in vain.
    await look()
  }

  return {
    /** Starts the search, and reports whether there was work. @param at the time of the next scheduled job */
    start (at: number | null): void {
      wakeAt = at
      open().catch(async (err: unknown) => {
        app.log.warn({ err }, 'the scan worker cannot rest')
        await wake(FAILED)
      })
    },

    /** Ends the search: the worker is there again. */
    stop (): void {
      clearInterval(timer)
      timer = undefined
      release?.()
      release = null
    }
  }
}
export type Guard = ReturnType<typeof createGuard>
