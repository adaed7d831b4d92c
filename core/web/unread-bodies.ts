import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import fp from 'fastify-plugin'

/** The most bytes that the server reads and drops after a response: those of the largest chunk of an upload. */
const DROPPED_BYTES = 64 * 1024 ** 2

/** Yields the pieces of a body. If its reader fails, the rest of the body can still be received. */
export const readPieces = (body: Readable): AsyncIterable<Buffer> => body.iterator({ destroyOnReturn: false })

function dropRest (body: IncomingMessage): void {
  let bytes = 0
  body.unpipe()
  body.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > DROPPED_BYTES) body.destroy()
  })
  body.resume()
}

/**
 * Receives the rest of a body that was refused before its end, because many clients send the whole body before they
 * read the response. Without this they wait until the connection times out, which takes over a minute.
 */
export default fp(async (app) => {
  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    // Nothing can be read from a destroyed body.
    if (raw.destroyed && !raw.complete) reply.header('connection', 'close')
    done()
  })
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    if (!raw.complete && !raw.destroyed) dropRest(raw)
    done()
  })
}, { name: 'unread-bodies', fastify: '5.x' })
