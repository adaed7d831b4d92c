import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

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
    const { 'content-type': type, 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
    if (type !== undefined && length === '0' && coding === undefined && !isForm(type.toLowerCase(), request)) {
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
