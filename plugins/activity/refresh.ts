import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { transaction } from '../../core/database/transaction.ts'
import { lockRefresh } from './rows.ts'

const EVERY_MS = 1_000

/** Asks every client to fetch the feed again: once for whatever happens within a second, in any worker. */
export function createRefresh (app: FastifyInstance) {
  const closing = new AbortController()
  let pending: Promise<void> | null = null
  const wait = () => pause(EVERY_MS, undefined, { signal: closing.signal })

  /** Waits for its end; false when another worker is at it already, which is then told of this one too. */
  async function isOurs (): Promise<boolean> {
    try {
      return await transaction(app.pg, async (client) => {
        const isLocked = await lockRefresh(client)
        if (isLocked) await wait()
        return isLocked
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
