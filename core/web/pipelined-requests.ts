import fp from 'fastify-plugin'

/**
 * Handles requests of one connection one after the other. Node hands over all requests that a client sent without
 * waiting for responses, hundreds in one packet. Handled at once they would take every connection to the database, and
 * their responses would wait in memory, because responses are sent in order.
 */
export default fp(async (app) => {
  app.addHook('onRequest', (_request, { raw }, done) => {
    // A response gets the socket when the response before it is finished; never if the connection closes before.
    if (raw.socket === null) raw.once('socket', () => { done() })
    else done()
  })
}, { name: 'pipelined-requests', fastify: '5.x' })
