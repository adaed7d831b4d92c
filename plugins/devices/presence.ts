import type { FastifyInstance } from 'fastify'
import type { Socket } from 'socket.io'
import { deleteExpiredPresences, deletePresence, upsertPresences } from './presence-rows.ts'

/** Refresh interval: one refresh may fail before a presence expires. */
export const REFRESH_MS = 30_000

/** Tracks the devices with an open socket in this process. Rows with an expiry tell all other processes. */
export function createPresence (app: FastifyInstance) {
  /** Maps each socket to the id of its device. */
  const open = new Map<Socket, number>()
  let last: Promise<void> = Promise.resolve()

  /** Runs the statements in order, because a device that leaves at once must not be stored after its departure. */
  function write (statement: () => Promise<void>): void {
    last = last.then(statement).catch((err: unknown) => {
      app.log.warn({ err }, 'the presence of devices could not be stored')
    })
  }

  return {
    add (socket: Socket, deviceId: number): void {
      open.set(socket, deviceId)
      write(() => upsertPresences(app.db, [{ socket_id: socket.id, device_id: deviceId }]))
      socket.on('disconnect', () => {
        open.delete(socket)
        write(() => deletePresence(app.db, socket.id))
      })
    },

    /** Renews the presences of open sockets, and deletes expired ones of dead processes. */
    refresh (): void {
      const list = () => [...open].map(([{ id }, deviceId]) => ({ socket_id: id, device_id: deviceId }))
      if (open.size > 0) write(() => upsertPresences(app.db, list()))
      write(() => deleteExpiredPresences(app.workers.session))
    },

    /** Waits until all statements are done. */
    flush: async (): Promise<void> => { await last }
  }
}
export type Presence = ReturnType<typeof createPresence>
