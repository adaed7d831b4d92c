import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { type ChannelItem, announceDeliveries, insertDeliveries } from './delivery-rows.ts'

export function createQueue (app: Pick<FastifyInstance, 'pg' | 'log'>) {
  return {
    /** Queues notifications in the transaction that stores them; `wake` starts their delivery. */
    async enqueue (client: pg.PoolClient, items: readonly ChannelItem[]): Promise<void> {
      if (items.length > 0) await insertDeliveries(client, items)
    },

    /** Wakes the delivering worker; call it after the commit. A lost event costs a few seconds. */
    wake (): void {
      announceDeliveries(app.pg).catch((err: unknown) => {
        app.log.warn({ err }, 'the deliveries could not be woken; they are looked for in a few seconds')
      })
    }
  }
}
