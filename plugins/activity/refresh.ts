import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { inTransaction } from '../../core/database/transaction.ts'
import { lockRefresh } from './rows.ts'

const EVERY_MS = 1_000

/** Asks every client to fetch the feed again, at most once per second across all workers. */
export function createRefresh (app: FastifyInstance) {
  const closing = new AbortController()
  let pending: Promise<void> | null = null
  const wait = () => pause(EVERY_MS, undefined, { signal: closing.signal })

  /**
   * Returns true after a second. Returns false at once if another worker already waits, because its refresh also covers
   * this one.
   */
  async function isOurs (): Promise<boolean> {
    try {
      return await inTransaction(app.db, async (tx) => {
        const isLocked = await lockRefresh(tx)
        if (isLocked) await wait()
        return isLocked
      })
    } catch (err) {
      app.log.warn({ err }, 'the lock for a refresh could not be taken')
      await wait()
      return true
    }
  }

  async function run (): Promise<void> {
    const mustPublish = await isOurs()
    pending = null
    if (mustPublish) app.sockets.publish(null, 'activity:refresh', {})
  }

  app.addHook('onClose', async () => {
    closing.abort()
    await pending
  })
  return () => {
    // An error at shutdown is ignored.
    pending ??= run().catch(() => {})
  }
}
