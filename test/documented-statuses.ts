import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { defineFeature } from '../core/feature.ts'
import { type OperationSchema, listResponses } from '../core/web/openapi.ts'

/** A bug of the server has this status, which no document lists. */
const UNEXPECTED = 500

/** Replaces each response with an undocumented status by an error, so that the test that caused it fails. */
export async function checkStatuses (app: FastifyInstance): Promise<void> {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { method, routeOptions: { url, config, schema } } = request
    const operation = schema as OperationSchema | undefined
    const status = reply.statusCode
    // The document does not repeat for each operation that a malformed request is refused.
    const isMalformed = request.headers.host === undefined
    const isOperation = !isMalformed && !request.is404 &&
      operation?.operationId !== undefined && operation.hide !== true
    if (!isOperation || status === UNEXPECTED) return done(null, payload)
    const documented = listResponses(operation, config, method)
    if (String(status) in documented || 'default' in documented) return done(null, payload)
    if (payload instanceof Readable) payload.resume()
    reply.code(UNEXPECTED).removeHeader('content-length').type('application/json')
    done(null, JSON.stringify({
      detail: `${method} ${url} answered ${status}, which the document does not name; add it to schema.response`
    }))
  })
}

export default defineFeature({ name: 'documented-statuses', plugin: async () => ({ default: checkStatuses }) })
