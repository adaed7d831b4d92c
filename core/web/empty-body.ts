import fp from 'fastify-plugin'

/** Treats an empty body as none, whatever its type, because apps send a JSON content type with every request. */
export default fp(async (app) => {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    if (body === '') done(null, undefined)
    else void parse(request, body, done)
  })
}, { name: 'empty-body', fastify: '5.x' })
