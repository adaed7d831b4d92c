import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/columns.ts'
import { User } from '../users/entities.ts'

/** A client API token. Only the SHA-256 of the whole token is kept. */
export const ClientToken = defineEntity({
  name: 'ClientToken',
  tableName: 'client_tokens',
  properties: {
    id: columns.id(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    name: columns.text(),
    token_hash: columns.text().unique(),
    scopes: columns.texts(),
    expires_at: columns.time().nullable(),
    last_used_at: columns.time().nullable(),
    created_at: columns.createdAt()
  }
})
export type ClientToken = InferEntity<typeof ClientToken>
