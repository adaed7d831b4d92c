import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { User } from '../users/entities.ts'

export const LEVELS = ['info', 'success', 'warning', 'error'] as const

/** The inbox keeps each user's newest. */
export const INBOX_MAX = 200

/** One line of a user's inbox. */
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
    /** The other user who caused it. */
    actor: () => p.manyToOne(User).deleteRule('set null').joinColumn('actor_id').nullable().index(),
    read_at: columns.time().nullable(),
    created_at: columns.createdAt()
  }
})
export type Notification = InferEntity<typeof Notification>
