import type { FastifyBaseLogger } from 'fastify'
import type { Socket } from 'socket.io'
import type { GuestCount } from './guests.ts'
import { ADMIN_ROOM, type Identify } from './sockets.ts'

const CHECK_INTERVAL_MS = 30_000

export type BoundSockets = ReturnType<typeof createBoundSockets>

/** Disconnects a socket whose credential has ended, or may no longer open it. */
async function checkSocket (socket: Socket, identify: Identify): Promise<void> {
  const caller = await identify(socket)
  if (caller === null) socket.disconnect(true)
  else if (caller.role !== 'admin') await socket.leave(ADMIN_ROOM)
}

/**
 * Creates the set of this process's sockets with a credential. It disconnects them within 30 seconds after their
 * credential expires, which is not announced.
 */
export function createBoundSockets (guests: GuestCount, log: FastifyBaseLogger) {
  const bound = new Map<Socket, Identify>()
  let checking: Promise<void> | null = null
  let isStale = false
  const sweep = setInterval(check, CHECK_INTERVAL_MS)

  /** Checks all sockets, once more if it is called meanwhile. */
  function check (): void {
    isStale = true
    checking ??= checkAll().finally(() => { checking = null })
  }

  async function checkAll (): Promise<void> {
    while (isStale) {
      isStale = false
      for (const [socket, identify] of bound) await checkSocket(socket, identify).catch(logFailure)
    }
  }

  function logFailure (err: unknown): void {
    log.warn({ err }, 'socket could not be identified')
  }

  return {
    logFailure,
    check,
    /**
     * Closes the connection of a socket that could not be identified. Its client then reconnects, which it would not do
     * after a disconnect packet.
     */
    disconnectFailed (socket: Socket, err: unknown): void {
      logFailure(err)
      socket.conn.close()
    },
    /** Binds a socket to its credential, and disconnects it if its session or token ended meanwhile. */
    async bind (socket: Socket, rooms: string[], identify: Identify): Promise<void> {
      if (!socket.connected) return
      socket.on('disconnect', () => { bound.delete(socket) })
      bound.set(socket, identify)
      guests.remove(socket.conn)
      await socket.join(rooms)
      // The credential may have ended before the socket could be found by its room.
      await checkSocket(socket, identify)
    },
    stop (): void {
      clearInterval(sweep)
    },
    /** Waits for the check that runs now. */
    async finish (): Promise<void> {
      await checking
    }
  }
}
