import fp from 'fastify-plugin'

/**
 * Reads a body without a content type as JSON, on routes that take nothing else, because some HTTP libraries send no
 * type of their own.
 */
export default fp(async (app) => {
  app.addHook('preParsing', ({ headers, routeOptions: { schema } }, _reply, payload, done) => {
    const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
    const readsJson = schema?.body !== undefined && schema.consumes === undefined
    if (hasBody && readsJson && headers['content-type'] === undefined) headers['content-type'] = 'application/json'
    done(null, payload)
  })
}, { name: 'untyped-body', fastify: '5.x' })
