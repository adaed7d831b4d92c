import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { NetplayRoom } from './entities.ts'
import type { RoomRequest } from './schemas.ts'

/** Channel of events that announce changed rooms to all workers. */
export const ROOMS_CHANNEL = 'svc_netplay'

/** A player in a room. */
export interface PlayerRow { socket_id: string, player_id: string, player_name: string }

/** A room with a free place. */
export interface RoomRow extends Pick<NetplayRoom, 'id' | 'name' | 'max_players'> {
  players: number
  owner: string
  has_password: boolean
}

/** A socket with the worker that holds it. */
export interface PlayerSocket { socket_id: string, worker: string }

/** Selects the rooms of a game with a free place, oldest first. Only players of live workers count. */
export async function selectOpenRooms (db: Db, gameId: string, workers: readonly string[]): Promise<RoomRow[]> {
  const { rows } = await db.query<RoomRow>(`select r.id, r.name, r.max_players, count(*)::int as players,
      (array_agg(p.player_name order by p.id))[1] as owner, r.password_mark is not null as has_password
    from netplay_rooms r join netplay_players p on p.room_id = r.id
    where r.game_id = $1 and p.worker = any($2) group by r.id having count(*) < r.max_players
    order by r.created_at, r.id`, [gameId, workers])
  return rows
}

/** Selects the players of a room, the owner first. */
export async function selectPlayers (tx: Db, roomId: string): Promise<PlayerRow[]> {
  const { rows } = await tx.query<PlayerRow>(
    'select socket_id, player_id, player_name from netplay_players where room_id = $1 order by id', [roomId])
  return rows
}

/** The conditions for joining a room. */
export interface JoinConditions { game_id: string, password_mark: string | null }

export async function selectEntrance (db: Db, id: string): Promise<JoinConditions | null> {
  const { rows: [room] } = await db.query<JoinConditions>('select game_id, password_mark from netplay_rooms where id = $1', [id])
  return room ?? null
}

async function insertPlayer (
  tx: Db, roomRequest: RoomRequest, { socket_id: socketId, worker }: PlayerSocket
): Promise<void> {
  await tx.query(`insert into netplay_players (room_id, socket_id, player_id, player_name, worker)
    values ($1, $2, $3, $4, $5)`, [roomRequest.id, socketId, roomRequest.player_id, roomRequest.player_name, worker])
}

/** @returns true if the room's id was free */
export function insertRoom (
  db: Db, roomRequest: RoomRequest, passwordMark: string | null, playerSocket: PlayerSocket
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rowCount } = await tx.query(`insert into netplay_rooms (id, name, game_id, domain, password_mark, max_players)
      values ($1, $2, $3, $4, $5, $6) on conflict (id) do nothing`,
    [roomRequest.id, roomRequest.name, roomRequest.game_id, roomRequest.domain, passwordMark, roomRequest.max_players])
    if (rowCount === 1) await insertPlayer(tx, roomRequest, playerSocket)
    return rowCount === 1
  })
}

/** The result of joining a room: its players, or the reason of the refusal. */
export type RoomEntry = PlayerRow[] | 'gone' | 'taken' | 'full'

/** Adds a player to a room if there is a place. @returns all players of the room */
export function joinRoom (db: Db, roomRequest: RoomRequest, playerSocket: PlayerSocket): Promise<RoomEntry> {
  return inTransaction(db, async (tx): Promise<RoomEntry> => {
    const { rows: [room] } = await tx.query<Pick<NetplayRoom, 'max_players'>>(
      'select max_players from netplay_rooms where id = $1 for update', [roomRequest.id])
    if (room === undefined) return 'gone'
    const players = await selectPlayers(tx, roomRequest.id)
    if (players.some((player) => player.player_id === roomRequest.player_id)) return 'taken'
    if (players.length >= room.max_players) return 'full'
    await insertPlayer(tx, roomRequest, playerSocket)
    return await selectPlayers(tx, roomRequest.id)
  })
}

async function deleteEmptyRoom (tx: Db, id: string): Promise<void> {
  await tx.query('delete from netplay_rooms r where id = $1 and not exists ' +
    '(select 1 from netplay_players p where p.room_id = r.id)', [id])
}

/** Removes a socket from its room, and the room if it is empty then. */
export function deletePlayer (db: Db, roomId: string, socketId: string): Promise<void> {
  return inTransaction(db, async (tx) => {
    await tx.query('select 1 from netplay_rooms where id = $1 for update', [roomId])
    await tx.query('delete from netplay_players where socket_id = $1', [socketId])
    await deleteEmptyRoom(tx, roomId)
  })
}

/** Selects the workers that hold sockets of players. */
export async function selectWorkers (db: Db): Promise<string[]> {
  const { rows } = await db.query<{ worker: string }>('select distinct worker from netplay_players')
  return rows.map(({ worker }) => worker)
}

/**
 * Removes the players of these workers, and empty rooms.
 *
 * @returns the ids of changed rooms
 */
export function deleteLost (db: Db, workers: readonly string[]): Promise<string[]> {
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ id: string }>(`select r.id from netplay_rooms r
      where exists (select 1 from netplay_players p where p.room_id = r.id and p.worker = any($1))
        or not exists (select 1 from netplay_players p where p.room_id = r.id)
      order by r.id for update`, [workers])
    for (const { id } of rows) {
      await tx.query('delete from netplay_players where room_id = $1 and worker = any($2)', [id, workers])
      await deleteEmptyRoom(tx, id)
    }
    return rows.map(({ id }) => id)
  })
}

/** True if a socket is in a room. */
export async function isInRoom (db: Db, roomId: string, socketId: string): Promise<boolean> {
  const { rowCount } = await db.query('select 1 from netplay_players where socket_id = $1 and room_id = $2',
    [socketId, roomId])
  return rowCount === 1
}

/** Makes every worker publish the players of these rooms. */
export async function announceRooms (db: Db, ids: readonly string[]): Promise<void> {
  await db.query('select pg_notify($1, id) from unnest($2::text[]) as id', [ROOMS_CHANNEL, ids])
}
