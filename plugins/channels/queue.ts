import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { type ChannelItem, announceDeliveries, insertDeliveries } from './delivery-rows.ts'

export function createQueue (app: Pick<FastifyInstance, 'pg' | 'log'>) {
  return {
    /** Puts notifications on their way, with the transaction that stores them; the rest happens after `wake`. */
    async enqueue (client: pg.PoolClient, items: readonly ChannelItem[]): Promise<void> {
      if (items.length > 0) await insertDeliveries(client, items)
    },

    /** To be called once what was queued is committed. One that gets lost costs a few seconds. */
    wake (): void {
      announceDeliveries(app.pg).catch((err: unknown) => {
        app.log.warn({ err }, 'the deliveries could not be woken; they are looked for in a few seconds')
      })
    }
  }
}
