import { type Static, Type } from '@sinclair/typebox'
import { ID_MAX, NameText, Nullable, StoredText } from '../../core/typebox.ts'

const TEXT_MAX = 255
const PLAYERS_DEFAULT = 4
const PLAYERS_MAX = 100

/** Apps send ids as text or numbers, and missing values in several ways. */
const Text = Type.Optional(Nullable(Type.Union([StoredText({ maxLength: TEXT_MAX }), Type.Number()])))

const Name = Type.Optional(Nullable(Type.Union([NameText({ maxLength: TEXT_MAX }), Type.Number()])))

/** Payload that opens or joins a room. Other fields of apps are ignored. */
export const RoomDataSchema = Type.Object({
  extra: Type.Object({
    sessionid: Text,
    userid: Text,
    playerId: Text,
    room_name: Name,
    game_id: Text,
    player_name: Name,
    domain: Text,
    room_password: Text
  }),
  maxPlayers: Type.Optional(Type.Unknown()),
  password: Text
})
export type RoomData = Static<typeof RoomDataSchema>

/** The room and the player of a request, with defaults applied. */
export interface RoomRequest {
  id: string
  player_id: string
  player_name: string
  name: string
  game_id: string
  domain: string | null
  password: string
  max_players: number
}

const textOf = (value: string | number | null | undefined): string => value === null || value === undefined ? '' : String(value)

const readMaxPlayers = (given: unknown): number =>
  typeof given === 'number' && Number.isInteger(given) && given >= 1 ? Math.min(given, PLAYERS_MAX) : PLAYERS_DEFAULT

/** Applies the defaults that apps expect; returns null if the room or the player is missing. */
export function readRoomRequest ({ extra, maxPlayers, password }: RoomData): RoomRequest | null {
  const [id, player] = [textOf(extra.sessionid), textOf(extra.userid) || textOf(extra.playerId)]
  if (id === '' || player === '') return null
  return {
    id,
    player_id: player,
    player_name: textOf(extra.player_name) || `Player ${player}`,
    name: textOf(extra.room_name) || `Room ${id}`,
    game_id: textOf(extra.game_id),
    domain: textOf(extra.domain) || null,
    password: textOf(password ?? extra.room_password),
    max_players: readMaxPlayers(maxPlayers)
  }
}

const ID = /^[1-9]\d{0,9}$/

/** Returns the id of the ROM that a game id names; null for none. */
export function readRomId (gameId: string): number | null {
  return ID.test(gameId) && Number(gameId) <= ID_MAX ? Number(gameId) : null
}

/** A player as clients see it. */
export interface Player { socketId: string, player_name: string, userid: string, playerId: string }
/** Players by player id. */
export type Players = Record<string, Player>

export const ListRoomsQuery = Type.Object({
  game_id: StoredText({ maxLength: TEXT_MAX, description: 'Id of the ROM' })
})
export type ListRoomsQuery = Static<typeof ListRoomsQuery>

export const RoomListItemSchema = Type.Object({
  room_name: Type.String(),
  current: Type.Integer({ description: 'Number of players' }),
  max: Type.Integer({ description: 'Maximum number of players' }),
  player_name: Type.String({ description: "Name of the room's owner" }),
  hasPassword: Type.Boolean()
}, { title: 'RoomListItem' })
export type RoomListItem = Static<typeof RoomListItemSchema>
/** Rooms by the id that the owner chose. */
export type RoomList = Record<string, RoomListItem>
// Not a record type, because its key pattern would drop ids with line feeds.
export const RoomListSchema = Type.Unsafe<RoomList>({
  type: 'object', additionalProperties: RoomListItemSchema, description: 'Rooms by their id'
})
