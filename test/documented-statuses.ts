import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { defineFeature } from '../core/feature.ts'
import { ErrorSchema, ValidationErrorSchema } from '../core/typebox.ts'
import { findHostProblem } from '../core/web/framework-errors.ts'
import { type OperationSchema, listResponses } from '../core/web/openapi/openapi.ts'
import { isNullBody } from '../core/web/openapi/responses.ts'

/** A bug of the server has this status, which no document lists. */
const UNEXPECTED = 500

interface Documented { $id?: string, $ref?: string, 'x-empty'?: boolean, format?: string, contentMediaType?: string }

const typeOf = (reply: FastifyReply) => String(reply.getHeader('content-type')).split(';')[0] ?? ''

/** Returns the reason why the JSON of an error contradicts its documented schema, or null. */
function findWrongDetail (documented: Documented, payload: unknown, reply: FastifyReply): string | null {
  const name = documented.$id ?? documented.$ref?.slice(0, -1)
  if (name !== ErrorSchema.$id && name !== ValidationErrorSchema.$id) return null
  // RomM's pages expect the refusal of a CSRF token as plain text.
  if (typeof payload !== 'string' || typeOf(reply) !== 'application/json') return null
  const { detail } = JSON.parse(payload) as { detail: unknown }
  const isRight = name === ErrorSchema.$id ? typeof detail === 'string' : Array.isArray(detail)
  return isRight ? null : `with a detail that is not that of ${name}`
}

const isWithin = (type: string) => (range: string) =>
  range.endsWith('/*') ? type.startsWith(range.slice(0, -1)) : range === type

/** Returns the reason why a file has none of the documented media types, or null. */
function findWrongType ({ format, contentMediaType = '' }: Documented, reply: FastifyReply): string | null {
  const type = typeOf(reply)
  return format !== 'binary' || contentMediaType.split(', ').some(isWithin(type)) ? null : `with ${type}`
}

/** Returns the reason why a body is not the documented `null` or empty one, or null. */
function findWrongBody (status: number, documented: Documented, payload: unknown): string | null {
  const isRight = isNullBody(String(status), documented)
    ? payload === 'null'
    : documented['x-empty'] !== true || payload === undefined
  return isRight ? null : `with the body ${JSON.stringify(payload)}`
}

/** Replaces each response that contradicts the document by an error, so that the test that caused it fails. */
export async function checkStatuses (app: FastifyInstance): Promise<void> {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { method, routeOptions: { url, config, schema } } = request
    const operation = schema as OperationSchema | undefined
    const status = reply.statusCode
    // The document does not repeat for each operation that a malformed request is refused.
    const isMalformed = findHostProblem(request.raw) !== null
    const isOperation = !isMalformed && !request.is404 &&
      operation?.operationId !== undefined && operation.hide !== true
    if (!isOperation || status === UNEXPECTED) return done(null, payload)
    const documented = listResponses(operation, config, method)
    const response = documented[status] as Documented | undefined
    const findWrong = (found: Documented) =>
      findWrongDetail(found, payload, reply) ?? findWrongType(found, reply) ?? findWrongBody(status, found, payload)
    const wrong = response === undefined ? 'default' in documented ? null : '' : findWrong(response)
    if (wrong === null) return done(null, payload)
    if (payload instanceof Readable) payload.resume()
    reply.code(UNEXPECTED).removeHeader('content-length').type('application/json')
    done(null, JSON.stringify({
      detail: `${method} ${url} answered ${status} ${wrong}, which the document does not name; add it to schema.response`
    }))
  })
}

export default defineFeature({ name: 'documented-statuses', plugin: async () => ({ default: checkStatuses }) })
