import type { PlayerRow, RoomRow } from './rows.ts'
import type { Players, RoomList } from './schemas.ts'

export const toPlayersView = (rows: readonly PlayerRow[]): Players => Object.fromEntries(rows.map((row) =>
  [row.player_id, {
    socketId: row.socket_id, player_name: row.player_name, userid: row.player_id, playerId: row.player_id
  }]))

export const toRoomListView = (rows: readonly RoomRow[]): RoomList => Object.fromEntries(rows.map((row) => [row.id, {
  room_name: row.name, current: row.players, max: row.max_players, player_name: row.owner, hasPassword: row.has_password
}]))
