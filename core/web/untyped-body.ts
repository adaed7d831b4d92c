import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { hasBody } from './empty-body.ts'

const readsOnlyJson = ({ routeOptions: { schema } }: FastifyRequest) =>
  schema?.body !== undefined && schema.consumes === undefined

/**
 * Reads a body without a content type as JSON, on routes that take nothing else, because some HTTP libraries send no
 * type of their own. Not from a web page, because pages of other sites may send such a body without a preflight.
 */
export default fp(async (app) => {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { headers } = request
    const isUntyped = headers['content-type'] === undefined && headers.origin === undefined
    if (isUntyped && hasBody(request) && readsOnlyJson(request)) headers['content-type'] = 'application/json'
    done(null, payload)
  })
}, { name: 'untyped-body', fastify: '5.x' })
