import { Socket } from 'node:net'
import fp from 'fastify-plugin'
import helmet, { type HelmetOptions } from 'helmet'
import { IncomingMessage, ServerResponse } from '../process/node-http.ts'

/** Returns Helmet's headers. Helmet reads nothing from the request, so one call is enough. */
function readHeaders (options: HelmetOptions): Record<string, string> {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  helmet(options)(response.req, response, (err) => { if (err instanceof Error) throw err })
  return Object.fromEntries(response.getHeaderNames().map((name) => [name, String(response.getHeader(name))]))
}

declare module 'fastify' {
  interface FastifyInstance {
    /** For responses that no hook sees. */
    securityHeaders: Readonly<Record<string, string>>
  }
}

/** Sets security headers on every response; headers that a route sets take precedence. */
export default fp<HelmetOptions>(async (app, options) => {
  const headers = readHeaders(options)
  app.decorate('securityHeaders', headers)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}, { name: 'security-headers', fastify: '5.x' })
