import { type Static, Type } from '@sinclair/typebox'
import { ID_MAX, NameText, Nullable, StoredText } from '../../core/typebox.ts'

const TEXT_MAX = 255
const PLAYERS_DEFAULT = 4
const PLAYERS_MAX = 100

/** Apps send ids as text or as numbers, and leave things out in more than one way. */
const Text = Type.Optional(Nullable(Type.Union([StoredText({ maxLength: TEXT_MAX }), Type.Number()])))

const Name = Type.Optional(Nullable(Type.Union([NameText({ maxLength: TEXT_MAX }), Type.Number()])))

/** What opens or joins a room. Whatever else apps send is theirs. */
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

/** A room, and who wants to be in it, as they were sent. */
export interface Wish {
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

const readPlaces = (given: unknown): number =>
  typeof given === 'number' && Number.isInteger(given) && given >= 1 ? Math.min(given, PLAYERS_MAX) : PLAYERS_DEFAULT

/** What is sent is filled up as apps expect it; null when it says neither which room nor who. */
export function readWish ({ extra, maxPlayers, password }: RoomData): Wish | null {
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
    max_players: readPlaces(maxPlayers)
  }
}

const ID = /^[1-9]\d{0,9}$/

/** The ROM that a game's id names; null for none. */
export function readRomId (gameId: string): number | null {
  return ID.test(gameId) && Number(gameId) <= ID_MAX ? Number(gameId) : null
}

/** Somebody in a room, as the others are told. */
export interface Player { socketId: string, player_name: string, userid: string, playerId: string }
/** By player id. */
export type Players = Record<string, Player>

export const ListRoomsQuery = Type.Object({
  game_id: StoredText({ maxLength: TEXT_MAX, description: 'The ROM' })
})
export type ListRoomsQuery = Static<typeof ListRoomsQuery>

export const RoomListItemSchema = Type.Object({
  room_name: Type.String(),
  current: Type.Integer({ description: 'Players in it' }),
  max: Type.Integer({ description: 'Places' }),
  player_name: Type.String({ description: "The owner's" }),
  hasPassword: Type.Boolean()
}, { title: 'RoomListItem' })
export type RoomListItem = Static<typeof RoomListItemSchema>
/** By the id that the room's owner chose. */
export type RoomList = Record<string, RoomListItem>
// A record's keys would be matched by a pattern, which leaves out those with line feeds.
export const RoomListSchema = Type.Unsafe<RoomList>({
  type: 'object', additionalProperties: RoomListItemSchema, description: 'By the id of the room'
})
