import type { FastifyInstance } from 'fastify'
import type { Socket } from 'socket.io'

const LIFETIME = '90 seconds'
/** Often enough that one refresh may fail before a device seems to be gone. */
export const REFRESH_MS = 30_000

const ENTER = `insert into device_presences (socket_id, device_id, expires_at)
  select given.socket_id, d.id, now() + interval '${LIFETIME}'
  from unnest($1::text[], $2::int[]) as given (socket_id, device_id) join devices d on d.id = given.device_id
  for key share of d on conflict (socket_id) do update set expires_at = excluded.expires_at`

/** Which devices have a socket open here, told to all processes by rows that fade when this one dies. */
export function createPresence (app: FastifyInstance) {
  /** Socket → its device's id. */
  const open = new Map<Socket, number>()
  let last: Promise<unknown> = Promise.resolve()

  /** One statement after the other: a device that leaves at once is not written down after it has left. */
  function write (sql: string, values: () => unknown[]): void {
    last = last.then(() => app.pg.query(sql, values())).catch((err: unknown) => {
      app.log.warn({ err }, 'the presence of devices could not be written')
    })
  }

  return {
    enter (socket: Socket, deviceId: number): void {
      open.set(socket, deviceId)
      write(ENTER, () => [[socket.id], [deviceId]])
      socket.on('disconnect', () => {
        open.delete(socket)
        write('delete from device_presences where socket_id = $1', () => [socket.id])
      })
    },

    /** Keeps those that are here, and drops those of processes that died. */
    refresh (): void {
      if (open.size > 0) write(ENTER, () => [[...open.keys()].map(({ id }) => id), [...open.values()]])
      write('delete from device_presences where expires_at < now()', () => [])
    },

    /** All that was told is written. */
    settled: async (): Promise<void> => { await last }
  }
}
export type Presence = ReturnType<typeof createPresence>
