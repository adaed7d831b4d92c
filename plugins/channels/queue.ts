import type { OutgoingNotification } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { toDatabaseJson } from '../../core/database/json.ts'

/** A notification of one user, for whichever of the user's channels take it. */
export interface ChannelItem { user_id: number, topic: string, notification: OutgoingNotification }

/** Tells the worker that delivers, in whichever process it is, that there is something to do. */
export const WAKE_EVENT = 'svc_channel_deliveries'

const RANKS: Readonly<Record<OutgoingNotification['level'], number>> = { info: 0, success: 0, warning: 1, error: 2 }

const ENQUEUE = `insert into channel_deliveries (channel_id, notification)
  select c.id, i.notification from unnest($1::int[], $2::text[], $3::int[], $4::jsonb[]) with ordinality
    as i (user_id, topic, rank, notification, position)
  join users u on u.id = i.user_id and u.enabled
  join notification_channels c on c.user_id = i.user_id
  where c.enabled and c.confirmed and (c.topics is null or i.topic = any(c.topics))
    and i.rank >= case c.min_level when 'info' then 0 when 'warning' then 1 else 2 end
  order by i.position, c.id`

export function createQueue (app: Pick<FastifyInstance, 'pg' | 'log'>) {
  return {
    /** Puts notifications on their way, with the transaction that stores them; the rest happens after `wake`. */
    async enqueue (client: pg.PoolClient, items: readonly ChannelItem[]): Promise<void> {
      if (items.length === 0) return
      await client.query(ENQUEUE, [
        items.map((item) => item.user_id), items.map((item) => item.topic),
        items.map((item) => RANKS[item.notification.level]), items.map((item) => toDatabaseJson(item.notification))
      ])
    },

    /** To be called once what was queued is committed. One that gets lost costs a few seconds. */
    wake (): void {
      app.pg.query('select pg_notify($1, $2)', [WAKE_EVENT, '']).catch((err: unknown) => {
        app.log.warn({ err }, 'the deliveries could not be woken; they are looked for in a few seconds')
      })
    }
  }
}
