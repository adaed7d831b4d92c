import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Device } from '../devices/entities.ts'
import { Rom } from '../roms/entities.ts'
import { User } from '../users/entities.ts'

/** The game that a user plays on a device right now. */
export const ActivityEntry = defineEntity({
  name: 'ActivityEntry',
  tableName: 'activity_entries',
  primaryKeys: ['user', 'device'],
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade').joinColumn('user_id'),
    device: () => p.manyToOne(Device).primary().deleteRule('cascade').joinColumn('device_id').index(),
    rom: () => p.manyToOne(Rom).deleteRule('cascade').joinColumn('rom_id').index(),
    /** Socket that started the entry last; closing the socket ends the entry. */
    socket_id: columns.text().nullable(),
    started_at: columns.createdAt(),
    expires_at: columns.time()
  }
})
export type ActivityEntry = InferEntity<typeof ActivityEntry>
