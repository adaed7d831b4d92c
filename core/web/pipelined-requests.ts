import type { Socket } from 'node:net'
import fp from 'fastify-plugin'

/** The most requests that wait on a connection before the server stops reading it. Those of one packet still join. */
const WAITING_MAX = 100

/**
 * Handles requests of one connection one after the other. Node hands over all requests that a client sent without
 * waiting for responses, hundreds in one packet. Handled at once they would take every connection to the database, and
 * their responses would wait in memory, because responses are sent in order.
 */
export default fp(async (app) => {
  const waiting = new WeakMap<Socket, number>()

  /** Counts a waiting request. A connection with many of them is not read, because each takes kilobytes of memory. */
  function enter (socket: Socket): void {
    const count = (waiting.get(socket) ?? 0) + 1
    waiting.set(socket, count)
    // Node reads on after each complete request, so the pause comes after the packet. All may be handled by then.
    if (count === WAITING_MAX) setImmediate(() => { if (waiting.get(socket) !== 0) socket.pause() })
  }

  function leave (socket: Socket): void {
    const count = (waiting.get(socket) ?? 1) - 1
    waiting.set(socket, count)
    // The last one may have a body that is still to come.
    if (count === 0 && socket.isPaused()) socket.resume()
  }

  app.addHook('onRequest', ({ raw: { socket } }, { raw }, done) => {
    if (raw.socket !== null) return done()
    enter(socket)
    // A response gets the socket when the response before it is finished; never if the connection closes before.
    raw.once('socket', () => {
      leave(socket)
      done()
    })
  })
}, { name: 'pipelined-requests', fastify: '5.x' })
