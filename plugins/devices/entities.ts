import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { User } from '../users/entities.ts'

/** As registered: the first three say in which direction files go, the others how. */
export const SYNC_MODES = ['pull_only', 'push_only', 'push_pull', 'api', 'file_transfer'] as const

/** A user's handheld, computer or browser. */
export const Device = defineEntity({
  name: 'Device',
  tableName: 'devices',
  uniques: [{ properties: ['user', 'client_device_identifier'] }],
  properties: {
    id: columns.id(),
    /** The other id on the wire. */
    device_id: p.uuid().defaultRaw('gen_random_uuid()').unique(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    /** Whether it was registered as the specification has it, and goes by the integer since; else by the UUID. */
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
    /** Whether an administrator entered the settings for SSH, which may then lead into the server's own network. */
    is_ssh_trusted: columns.flag(true),
    paths: p.json<Record<string, string> | null>().nullable(),
    capabilities: p.json<Record<string, boolean> | null>().nullable(),
    last_seen: columns.time().nullable(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type Device = InferEntity<typeof Device>

/** A device's open socket on `/devices`. It counts until it expires, so that a dead process's entries fade. */
export const DevicePresence = defineEntity({
  name: 'DevicePresence',
  tableName: 'device_presences',
  properties: {
    socket_id: columns.text().primary(),
    device: () => p.manyToOne(Device).deleteRule('cascade').joinColumn('device_id').index(),
    expires_at: columns.time()
  }
})
