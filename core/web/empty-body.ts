import fp from 'fastify-plugin'

/** Takes an empty body for none, whatever its type: apps name JSON with every request. */
export default fp(async (app) => {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    if (body === '') done(null, undefined)
    else void parse(request, body, done)
  })
}, { name: 'empty-body', fastify: '5.x' })
