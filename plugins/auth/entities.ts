import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/columns.ts'
import { User } from '../users/entities.ts'

/** A browser's login. Only the SHA-256 of its cookie is kept. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: columns.id(),
    token_hash: columns.text().unique(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    user_agent: columns.text().default(''),
    address: columns.text().default(''),
    created_at: columns.createdAt(),
    seen_at: columns.createdAt(),
    expires_at: columns.time()
  }
})
export type Session = InferEntity<typeof Session>
