import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { User } from '../users/entities.ts'

export const MIN_LEVELS = ['info', 'warning', 'error'] as const

/** A way for a user's notifications to leave the inbox. */
export const NotificationChannel = defineEntity({
  name: 'NotificationChannel',
  tableName: 'notification_channels',
  properties: {
    id: columns.id(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    /** Key of the channel plugin. */
    type: columns.text(),
    name: columns.text(),
    enabled: columns.flag(true),
    min_level: p.enum(MIN_LEVELS).default('info'),
    /** Null for all topics. */
    topics: p.array().columnType('text[]').nullable(),
    /** Settings and their view as sealed JSON; unreadable after the server's key changed. */
    sealed: columns.text(),
    confirmed: columns.flag(),
    /** Keyed hash of the code that was sent last. */
    code_hash: columns.text().nullable(),
    code_expires_at: columns.time().nullable(),
    code_tries: p.integer().default(0),
    last_delivered_at: columns.time().nullable(),
    last_error: columns.text().nullable(),
    consecutive_failures: p.integer().default(0),
    /** Start times of recent deliveries, for the rate limit. */
    recent_at: p.array().columnType('timestamptz[]').nullable().lazy(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type NotificationChannel = InferEntity<typeof NotificationChannel>

/** A notification on its way through one channel. The row is deleted once the delivery arrives or is given up. */
export const ChannelDelivery = defineEntity({
  name: 'ChannelDelivery',
  tableName: 'channel_deliveries',
  indexes: [{ properties: ['channel', 'id'] }],
  properties: {
    id: p.bigint('number').primary(),
    channel: () => p.manyToOne(NotificationChannel).deleteRule('cascade').joinColumn('channel_id'),
    /** Rendered text as the channel gets it, because the inbox row may be gone by then. */
    notification: p.json<Record<string, unknown>>(),
    /** Id of the request that caused the notification, as in the log; null for none. */
    request_id: columns.text().nullable(),
    /** Number of failed tries. */
    attempts: p.integer().default(0),
    /** Number of times that the delivering process died. */
    deaths: p.integer().default(0),
    due_at: columns.createdAt(),
    /** Process that started the delivery; null before the start and after a failure. */
    worker_id: columns.text().nullable(),
    created_at: columns.createdAt()
  }
})
export type ChannelDelivery = InferEntity<typeof ChannelDelivery>
