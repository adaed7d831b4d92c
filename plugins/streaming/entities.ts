import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Device } from '../devices/entities.ts'
import { Rom } from '../roms/entities.ts'
import { User } from '../users/entities.ts'

/** A machine that somebody has. There is one row for each at most, so that whoever inserts it has the machine. */
export const StreamingSession = defineEntity({
  name: 'StreamingSession',
  tableName: 'streaming_sessions',
  indexes: [{ properties: ['user', 'platform'] }],
  properties: {
    container: columns.text().primary(),
    /** Tells this claim from later ones of the same machine. */
    claim: p.uuid(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id'),
    /** On which it is watched, when that is known. */
    device: () => p.manyToOne(Device).deleteRule('set null').joinColumn('device_id').nullable().index(),
    platform: columns.text(),
    /** None on a desktop. It may be gone from the library meanwhile. */
    rom: () => p.manyToOne(Rom).createForeignKeyConstraint(false).joinColumn('rom_id').nullable(),
    rom_name: columns.text().nullable(),
    /** `draining` belongs to nobody any more, and is still being ended. */
    state: p.enum(['launching', 'active', 'draining'] as const),
    phase: columns.text().nullable(),
    multiplayer: columns.flag(),
    claimed_at: columns.createdAt(),
    /** When the game ran. */
    started_at: columns.time().nullable(),
    /** The last sign of its player. */
    seen_at: columns.createdAt(),
    /** Whether its client gives signs by itself. */
    beats: columns.flag(),
    expires_at: columns.time()
  }
})
export type StreamingSession = InferEntity<typeof StreamingSession>

/** What a player is to be told once about a session that somebody else ended. */
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
