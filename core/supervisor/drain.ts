import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The time limit of running requests, except for uploads, because downloads can be resumed. */
const FINISH_MS = 5_000
/** The time that a process needs to close besides its requests. */
const CLOSE_MARGIN_MS = 2_500

/** The time within which a process must close; after killMs the supervisor kills it. */
export const closeMs = (drainSeconds: number) => Math.max(FINISH_MS, drainSeconds * 1_000) + CLOSE_MARGIN_MS
export const killMs = (drainSeconds: number) => closeMs(drainSeconds) + 500

/**
 * Watches the connections of a server from now on.
 *
 * @returns a function that closes the server by the given function. Requests get a few seconds, and uploads that are
 * still arriving get `uploadMs` if that is longer
 */
export function createDrain (server: Server, finishMs = FINISH_MS) {
  const connections = new Set<Socket>()
  const requests = new Set<IncomingMessage>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => { connections.delete(socket) })
  })
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    requests.add(request)
    response.once('close', () => { requests.delete(request) })
  })

  return async (close: () => Promise<void>, uploadMs: number): Promise<void> => {
    const uploads = new Set([...requests].filter((request) => !request.complete).map(({ socket }) => socket))
    const cut = setTimeout(() => {
      for (const socket of connections) if (!uploads.has(socket)) socket.destroy()
    }, finishMs)
    const end = setTimeout(() => { server.closeAllConnections() }, Math.max(finishMs, uploadMs))
    await close()
    clearTimeout(cut)
    clearTimeout(end)
  }
}
