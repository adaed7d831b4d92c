import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Device } from '../devices/entities.ts'
import { Rom } from '../roms/entities.ts'
import { SyncSession } from '../sync/entities.ts'
import { User } from '../users/entities.ts'

/** A span of time in which a user played. */
export const PlaySession = defineEntity({
  name: 'PlaySession',
  tableName: 'play_sessions',
  uniques: [{ properties: ['user', 'identity'] }],
  indexes: [{ properties: ['user', 'start_time'] }, { properties: ['rom', 'user'] }],
  properties: {
    id: columns.id(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id'),
    device: () => p.manyToOne(Device).deleteRule('set null').joinColumn('device_id').nullable().index(),
    /** No foreign key, because a ROM may be gone from the library and return. */
    rom: () => p.manyToOne(Rom).createForeignKeyConstraint(false).joinColumn('rom_id').nullable(),
    sync_session: () => p.manyToOne(SyncSession).deleteRule('set null').joinColumn('sync_session_id').nullable().index(),
    /**
     * Device, ROM and start as received. Two entries with the same identity are duplicates, even after the device is
     * gone.
     */
    identity: columns.text(),
    save_slot: columns.text().nullable(),
    start_time: columns.time(),
    end_time: columns.time(),
    duration_ms: columns.bytes(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type PlaySession = InferEntity<typeof PlaySession>
