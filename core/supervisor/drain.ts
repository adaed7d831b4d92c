import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that are still not answered then are cut off, but for uploads: what is downloaded can be resumed. */
const FINISH_MS = 5_000
/** What a process needs beside its requests to end, and what it gets at least. */
const CLOSE_MARGIN_MS = 2_500

/** How long a process may take to close, and after which it is killed from outside. */
export const closeMs = (drainSeconds: number) => Math.max(FINISH_MS, drainSeconds * 1_000) + CLOSE_MARGIN_MS
export const killMs = (drainSeconds: number) => closeMs(drainSeconds) + 500

/**
 * Watches the connections of a server from now on.
 *
 * @returns what closes it by the function that is given: requests get a few seconds, and those whose body was still on
 * its way get `uploadMs` where that is longer
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
