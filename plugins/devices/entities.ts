import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { User } from '../users/entities.ts'

/** Sync modes of a registration: the first three set the direction of transfers, the others the method. */
export const SYNC_MODES = ['pull_only', 'push_only', 'push_pull', 'api', 'file_transfer'] as const

/** A user's handheld, computer or browser. */
export const Device = defineEntity({
  name: 'Device',
  tableName: 'devices',
  uniques: [{ properties: ['user', 'client_device_identifier'] }],
  properties: {
    id: columns.id(),
    /** UUID of the device; the API accepts either id. */
    device_id: p.uuid().defaultRaw('gen_random_uuid()').unique(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    /** True if the device registered as the specification says. Its API id is then the integer, otherwise the UUID. */
    is_numbered: columns.flag(),
    name: columns.text().nullable(),
    platform: columns.text().nullable(),
    hostname: columns.text().nullable(),
    mac_address: columns.text().nullable(),
    ip_address: columns.text().nullable(),
    client: columns.text().nullable(),
    client_version: columns.text().nullable(),
    /** Stable for one installation of a client. */
    client_device_identifier: columns.text().nullable(),
    sync_mode: p.text().$type<typeof SYNC_MODES[number]>().default('push_pull'),
    sync_enabled: columns.flag(true),
    sync_config: p.json<Record<string, unknown> | null>().nullable(),
    /** True if an administrator entered the SSH settings, which may then reach the server's own network. */
    is_ssh_trusted: columns.flag(true),
    paths: p.json<Record<string, string> | null>().nullable(),
    capabilities: p.json<Record<string, boolean> | null>().nullable(),
    last_seen: columns.time().nullable(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type Device = InferEntity<typeof Device>

/** A device's open socket on `/devices`. A row expires, because a dead process cannot delete its rows. */
export const DevicePresence = defineEntity({
  name: 'DevicePresence',
  tableName: 'device_presences',
  properties: {
    socket_id: columns.text().primary(),
    device: () => p.manyToOne(Device).deleteRule('cascade').joinColumn('device_id').index(),
    expires_at: columns.time()
  }
})
