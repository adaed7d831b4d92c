import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/** A room in which people play one game together. It exists while it has players. */
export const NetplayRoom = defineEntity({
  name: 'NetplayRoom',
  tableName: 'netplay_rooms',
  properties: {
    /** Chosen by the player who opened the room. */
    id: columns.text().primary(),
    name: columns.text(),
    /** Game id as received: a ROM that existed when the room was opened. */
    game_id: columns.text().index(),
    domain: columns.text().nullable(),
    /** Keyed hash, because the password itself must stay secret; null for none. */
    password_mark: columns.text().nullable(),
    max_players: p.integer(),
    created_at: columns.createdAt()
  }
})
export type NetplayRoom = InferEntity<typeof NetplayRoom>

/** A player in a room. Rows are in the order of joining, and the first player is the owner. */
export const NetplayPlayer = defineEntity({
  name: 'NetplayPlayer',
  tableName: 'netplay_players',
  uniques: [{ properties: ['room', 'player_id'] }],
  properties: {
    id: columns.id(),
    room: () => p.manyToOne(NetplayRoom).deleteRule('cascade').joinColumn('room_id'),
    socket_id: columns.text().unique(),
    /** Chosen by the player. */
    player_id: columns.text(),
    player_name: columns.text(),
    /** Web worker that holds the socket. The player counts as gone when the worker dies. */
    worker: columns.text()
  }
})
export type NetplayPlayer = InferEntity<typeof NetplayPlayer>
