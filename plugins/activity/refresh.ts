import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { transaction } from '../../core/database/transaction.ts'

const EVERY_MS = 1_000
/** Any number that is ours alone: who holds it tells everybody, for all workers. */
const REFRESH_LOCK = 7_364_131

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'activity:refresh': Record<never, never> }
}

/** Asks every client to fetch the feed again: once for whatever happens within a second, in any worker. */
export function createRefresh (app: FastifyInstance) {
  const closing = new AbortController()
  let pending: Promise<void> | null = null
  const wait = () => pause(EVERY_MS, undefined, { signal: closing.signal })

  /** Waits for its end; false when another worker is at it already, which is then told of this one too. */
  async function isOurs (): Promise<boolean> {
    try {
      return await transaction(app.pg, async (client) => {
        const { rows: [lock] } = await client.query<{ is_ours: boolean }>(
          'select pg_try_advisory_xact_lock($1) as is_ours', [REFRESH_LOCK])
        if (lock?.is_ours === true) await wait()
        return lock?.is_ours === true
      })
    } catch (err) {
      app.log.warn({ err }, 'workers cannot agree on a refresh')
      await wait()
      return true
    }
  }

  async function run (): Promise<void> {
    const mustTell = await isOurs()
    pending = null
    if (mustTell) app.sockets.publish(null, 'activity:refresh', {})
  }

  app.addHook('onClose', async () => {
    closing.abort()
    await pending
  })
  return () => {
    // What is left of it when the server closes needs nobody's attention.
    pending ??= run().catch(() => {})
  }
}
