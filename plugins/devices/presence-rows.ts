import type { Db, Queryable } from '../../core/database/db.ts'

const LIFETIME = '90 seconds'

/** Stores the device of each socket until the lifetime expires. */
export async function upsertPresences (
  db: Db, sockets: readonly { socket_id: string, device_id: number }[]
): Promise<void> {
  await db.query(`insert into device_presences (socket_id, device_id, expires_at)
    select given.socket_id, d.id, now() + interval '${LIFETIME}'
    from unnest($1::text[], $2::int[]) as given (socket_id, device_id) join devices d on d.id = given.device_id
    for key share of d on conflict (socket_id) do update set expires_at = excluded.expires_at`,
  [sockets.map((socket) => socket.socket_id), sockets.map((socket) => socket.device_id)])
}

export async function deletePresence (db: Db, socketId: string): Promise<void> {
  await db.query('delete from device_presences where socket_id = $1', [socketId])
}

/** Deletes the presences of processes that died. */
export async function deleteExpiredPresences (db: Queryable): Promise<void> {
  await db.query('delete from device_presences where expires_at < now()')
}
