import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

/** True if the headers announce a body. One in chunks may turn out to be empty. */
export const hasBody = ({ headers }: { headers: IncomingHttpHeaders }): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const URLENCODED = 'application/x-www-form-urlencoded'

/** True for a type of form that the route reads. An empty form has no fields, which differs from no body. */
function isForm (type: string, { server }: FastifyRequest): boolean {
  return type.startsWith('multipart/') || (type.startsWith(URLENCODED) && server.hasContentTypeParser(URLENCODED))
}

/**
 * Treats an empty body as none, whatever its type. Apps send a JSON type with every request, and curl and libcurl the
 * type of a form with every POST.
 */
export default fp(async (app) => {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { 'content-type': type } = request.headers
    if (type !== undefined && !hasBody(request) && !isForm(type.toLowerCase(), request)) {
      delete request.headers['content-type']
    }
    done(null, payload)
  })
  const parse = app.getDefaultJsonParser('error', 'error')
  // A body in chunks says only at its end that it is empty.
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    if (body === '') done(null, undefined)
    else void parse(request, body, done)
  })
}, { name: 'empty-body', fastify: '5.x' })
