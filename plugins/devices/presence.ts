import type { FastifyInstance } from 'fastify'
import type { Socket } from 'socket.io'
import { deleteExpiredPresences, deletePresence, upsertPresences } from './presence-rows.ts'

/** Often enough that one refresh may fail before a device seems to be gone. */
export const REFRESH_MS = 30_000

/** Which devices have a socket open here, told to all processes by rows that fade when this one dies. */
export function createPresence (app: FastifyInstance) {
  /** Socket → its device's id. */
  const open = new Map<Socket, number>()
  let last: Promise<void> = Promise.resolve()

  /** One statement after the other: a device that leaves at once is not written down after it has left. */
  function write (statement: () => Promise<void>): void {
    last = last.then(statement).catch((err: unknown) => {
      app.log.warn({ err }, 'the presence of devices could not be written')
    })
  }

  return {
    enter (socket: Socket, deviceId: number): void {
      open.set(socket, deviceId)
      write(() => upsertPresences(app.pg, [{ socket_id: socket.id, device_id: deviceId }]))
      socket.on('disconnect', () => {
        open.delete(socket)
        write(() => deletePresence(app.pg, socket.id))
      })
    },

    /** Keeps those that are here, and drops those of processes that died. */
    refresh (): void {
      const list = () => [...open].map(([{ id }, deviceId]) => ({ socket_id: id, device_id: deviceId }))
      if (open.size > 0) write(() => upsertPresences(app.pg, list()))
      write(() => deleteExpiredPresences(app.pg))
    },

    /** All that was told is written. */
    settled: async (): Promise<void> => { await last }
  }
}
export type Presence = ReturnType<typeof createPresence>
