import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Device } from '../devices/entities.ts'
import { Rom } from '../roms/entities.ts'
import { User } from '../users/entities.ts'

/** The last four statuses are final; lists only contain the first two. */
export const INSTALL_STATUSES = ['pending', 'taken', 'done', 'already_installed', 'failed', 'cancelled'] as const

/** A user's request that a device installs a game. */
export const InstallRequest = defineEntity({
  name: 'InstallRequest',
  tableName: 'install_requests',
  indexes: [
    { properties: ['device', 'created_at'] },
    {
      name: 'install_requests_live_unique',
      expression: 'create unique index "install_requests_live_unique" on "install_requests" ("user_id", "device_id", "rom_id") where status in (\'pending\', \'taken\')'
    }
  ],
  properties: {
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    device: () => p.manyToOne(Device).deleteRule('cascade').joinColumn('device_id'),
    rom: () => p.manyToOne(Rom).deleteRule('cascade').joinColumn('rom_id').index(),
    file_ids: p.array((id) => Number(id)).columnType('int[]').default([]),
    status: p.enum(INSTALL_STATUSES).default('pending'),
    reason: columns.text().nullable(),
    /** The progress that the device reported; null if it reported none. */
    percent: p.integer().nullable(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type InstallRequest = InferEntity<typeof InstallRequest>
