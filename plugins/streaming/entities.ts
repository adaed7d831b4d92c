import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Device } from '../devices/entities.ts'
import { Rom } from '../roms/entities.ts'
import { User } from '../users/entities.ts'

/** A claimed machine. Each machine has at most one row: whoever inserts the row holds the machine. */
export const StreamingSession = defineEntity({
  name: 'StreamingSession',
  tableName: 'streaming_sessions',
  indexes: [{ properties: ['user', 'platform'] }],
  properties: {
    container: columns.text().primary(),
    /** Distinguishes this claim from later ones of the same machine. */
    claim: p.uuid(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id'),
    /** Device that shows the stream, if it is known. */
    device: () => p.manyToOne(Device).deleteRule('set null').joinColumn('device_id').nullable().index(),
    platform: columns.text(),
    /** Null for a desktop. No foreign key, because the ROM may be gone from the library. */
    rom: () => p.manyToOne(Rom).createForeignKeyConstraint(false).joinColumn('rom_id').nullable(),
    rom_name: columns.text().nullable(),
    /** A `draining` session has no owner any more, and is still being ended. */
    state: p.enum(['launching', 'active', 'draining'] as const),
    phase: columns.text().nullable(),
    multiplayer: columns.flag(),
    claimed_at: columns.createdAt(),
    /** Time when the game started to run. */
    started_at: columns.time().nullable(),
    /** Time of the player's last sign of life. */
    seen_at: columns.createdAt(),
    /** True if the client sends heartbeats. */
    beats: columns.flag(),
    expires_at: columns.time()
  }
})
export type StreamingSession = InferEntity<typeof StreamingSession>

/** The ending of a session by another cause, which its player gets once. */
export const StreamingEnding = defineEntity({
  name: 'StreamingEnding',
  tableName: 'streaming_endings',
  primaryKeys: ['user', 'platform'],
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade').joinColumn('user_id'),
    platform: columns.text().primary(),
    termination: p.json<Record<string, unknown>>()
  }
})
export type StreamingEnding = InferEntity<typeof StreamingEnding>
