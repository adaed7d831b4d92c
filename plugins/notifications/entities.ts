import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { User } from '../users/entities.ts'

export const LEVELS = ['info', 'success', 'warning', 'error'] as const

/** Maximum number of notifications in the inbox of each user; the newest stay. */
export const INBOX_MAX = 200

/** A notification in a user's inbox. */
export const Notification = defineEntity({
  name: 'Notification',
  tableName: 'notifications',
  indexes: [{ properties: ['user', 'id'] }],
  properties: {
    id: columns.id(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id'),
    kind: columns.text(),
    level: p.enum(LEVELS),
    /** Null for built-in kinds, whose text is made from `data`. */
    title: columns.text().nullable(),
    body: columns.text().nullable(),
    link: columns.text().nullable(),
    icon: columns.text().nullable(),
    data: p.json<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    /** Another user who caused the notification. */
    actor: () => p.manyToOne(User).deleteRule('set null').joinColumn('actor_id').nullable().index(),
    read_at: columns.time().nullable(),
    created_at: columns.createdAt()
  }
})
export type Notification = InferEntity<typeof Notification>
