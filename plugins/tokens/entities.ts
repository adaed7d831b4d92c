import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { callersTrigger } from '../../core/access/caller-cache.ts'
import { columns } from '../../core/database/columns.ts'
import { Device } from '../devices/entities.ts'
import { User } from '../users/entities.ts'

const TOKEN_CHANGES = 'delete or update of "user_id", "device_id", "token_hash", "scopes", "expires_at"'

/** A client API token. Only the SHA-256 of the whole token is stored. */
export const ClientToken = defineEntity({
  name: 'ClientToken',
  tableName: 'client_tokens',
  triggers: [callersTrigger('client_tokens', TOKEN_CHANGES)],
  properties: {
    id: columns.id(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    /** The only device that may use the token; null if the token is not bound. */
    device: () => p.manyToOne(Device).deleteRule('set null').joinColumn('device_id').nullable().index(),
    name: columns.text(),
    token_hash: columns.text().unique(),
    scopes: columns.texts(),
    expires_at: columns.time().nullable(),
    last_used_at: columns.time().nullable(),
    created_at: columns.createdAt()
  }
})
export type ClientToken = InferEntity<typeof ClientToken>

/** A short code that a device exchanges for a token. Only its keyed hash is stored. */
export const PairingCode = defineEntity({
  name: 'PairingCode',
  tableName: 'pairing_codes',
  properties: {
    code_hash: columns.text().primary(),
    /** Null after the token was deleted. The exchange of the code then says so. */
    token: () => p.manyToOne(ClientToken).deleteRule('set null').joinColumn('token_id').nullable().index(),
    expires_at: columns.time()
  }
})

const AUTHORIZATION_STATUSES = ['pending', 'approved', 'denied'] as const

/** The facts that a device sends about itself when it requests access. */
export interface DeviceRequest {
  client_device_identifier: string
  name: string
  client: string
  platform: string | null
  client_version: string | null
  requested_scopes: string[]
}

/** A device that waits for its user's approval. */
export const DeviceAuthorization = defineEntity({
  name: 'DeviceAuthorization',
  tableName: 'device_authorizations',
  properties: {
    id: columns.id(),
    device_code_hash: columns.text().unique(),
    /** Null after the user answered. */
    user_code_hash: columns.text().nullable().unique(),
    status: p.enum(AUTHORIZATION_STATUSES).default('pending'),
    request: p.json<DeviceRequest>(),
    /** The new token, sealed until the device fetches it. */
    sealed_token: columns.text().nullable(),
    token: () => p.manyToOne(ClientToken).deleteRule('cascade').joinColumn('token_id').nullable().index(),
    polled_at: columns.time().nullable(),
    expires_at: columns.time(),
    created_at: columns.createdAt()
  }
})
export type DeviceAuthorization = InferEntity<typeof DeviceAuthorization>
