import type { Socket } from 'node:net'
import fp from 'fastify-plugin'

/**
 * The time in which connections must begin a request when the process closes. The request of a new connection may have
 * arrived without being read yet, and others are on their way.
 */
const FIRST_REQUEST_MS = 1_000

function endUnused (socket: Socket): void {
  setTimeout(() => { if (socket.bytesRead === 0) socket.destroy() }, FIRST_REQUEST_MS).unref()
}

/**
 * Ends connections without a request when the process closes. Browsers open some in advance, and `server.close` of Node
 * ends only connections that had a request; it waits for all others without end.
 */
export default fp(async (app) => {
  const connections = new Set<Socket>()
  let isClosing = false
  app.server.on('connection', (socket) => {
    if (isClosing) endUnused(socket)
    connections.add(socket)
    socket.once('close', () => { connections.delete(socket) })
  })
  app.addHook('preClose', (done) => {
    isClosing = true
    for (const socket of connections) endUnused(socket)
    done()
  })
}, { name: 'unused-connections', fastify: '5.x' })
