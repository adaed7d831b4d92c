import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import fp from 'fastify-plugin'
import helmet, { type HelmetOptions } from 'helmet'

/** What Helmet gives every answer: it looks at no request, so that asking it once will do. */
function readHeaders (options: HelmetOptions): Record<string, string> {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  helmet(options)(response.req, response, (err) => { if (err instanceof Error) throw err })
  return Object.fromEntries(response.getHeaderNames().map((name) => [name, String(response.getHeader(name))]))
}

/** Has browsers take every answer for no more than it is; what a route says of its own goes before. */
export default fp<HelmetOptions>(async (app, options) => {
  const headers = readHeaders(options)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}, { name: 'security-headers', fastify: '5.x' })
