import type { FastifyInstance } from 'fastify'
import type { Db } from '../../../core/database/db.ts'
import { type ChannelItem, announceDeliveries, insertDeliveries } from './delivery-rows.ts'

export function createQueue (app: Pick<FastifyInstance, 'db' | 'log'>) {
  return {
    /** Queues notifications in the transaction that stores them; `wake` starts their delivery. */
    async enqueue (tx: Db, items: readonly ChannelItem[]): Promise<void> {
      if (items.length > 0) await insertDeliveries(tx, items)
    },

    /** Wakes the delivering worker; call it after the commit. A lost event costs a few seconds. */
    wake (): void {
      announceDeliveries(app.db).catch((err: unknown) => {
        app.log.warn({ err }, 'the delivery of notifications could not be started at once; it starts within a few seconds')
      })
    }
  }
}
