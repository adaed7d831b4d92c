import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { callersTrigger } from '../../core/access/caller-cache.ts'
import { columns } from '../../core/database/columns.ts'
import { Device } from '../devices/entities.ts'
import { User } from '../users/entities.ts'

const SESSION_CHANGES = 'delete or update of "user_id", "device_id", "token_hash", "expires_at"'

/** A browser's login. Only the SHA-256 of its cookie is stored. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  triggers: [callersTrigger('sessions', SESSION_CHANGES)],
  properties: {
    id: columns.id(),
    token_hash: columns.text().unique(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    user_agent: columns.text().default(''),
    address: columns.text().default(''),
    /** The browser's row among the devices. */
    device: () => p.manyToOne(Device).deleteRule('set null').joinColumn('device_id').nullable().index(),
    /** The sealed proof that the OpenID provider expects when the session ends there too. */
    id_token: columns.text().nullable(),
    created_at: columns.createdAt(),
    seen_at: columns.createdAt(),
    expires_at: columns.time()
  }
})
export type Session = InferEntity<typeof Session>

type TokenPurpose = 'reset' | 'invite' | 'refresh' | 'oidc'

/** A token for one use: a link or a refresh. Only the SHA-256 of its secret is stored. */
export const OneTimeToken = defineEntity({
  name: 'OneTimeToken',
  tableName: 'one_time_tokens',
  properties: {
    token_hash: columns.text().primary(),
    purpose: p.text().$type<TokenPurpose>(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').nullable().index(),
    data: p.json<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    expires_at: columns.time(),
    created_at: columns.createdAt()
  }
})
export type OneTimeToken = InferEntity<typeof OneTimeToken>

/** The number of recent tries, by address, account or both. */
export const Throttle = defineEntity({
  name: 'Throttle',
  tableName: 'throttles',
  properties: {
    key: columns.text().primary(),
    count: p.integer().default(0),
    blocked_until: columns.time().nullable(),
    updated_at: columns.updatedAt()
  }
})
