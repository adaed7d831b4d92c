import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/** Where people play one game together. It is there while somebody is in it. */
export const NetplayRoom = defineEntity({
  name: 'NetplayRoom',
  tableName: 'netplay_rooms',
  properties: {
    /** Chosen by who opened it. */
    id: columns.text().primary(),
    name: columns.text(),
    /** As it was sent: a ROM that was there when the room was opened. */
    game_id: columns.text().index(),
    domain: columns.text().nullable(),
    /** Keyed, for the password itself is nobody's business; null for none. */
    password_mark: columns.text().nullable(),
    max_players: p.integer(),
    created_at: columns.createdAt()
  }
})
export type NetplayRoom = InferEntity<typeof NetplayRoom>

/** Somebody in a room, in the order in which they came: the first of them is its owner. */
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
    /** The web worker that holds the socket: when it dies, so does this. */
    worker: columns.text()
  }
})
export type NetplayPlayer = InferEntity<typeof NetplayPlayer>
