import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { explainDatabaseError } from '../database/errors.ts'
import { ApiError } from '../errors.ts'
import { explainDiskError } from '../files/disk-errors.ts'
import '../jobs/watch-schema.ts'
import { trackMethods } from './not-found.ts'
import { type SchemaProblem, toViolation } from './violations.ts'

/** The time that the supervisor needs to replace an ended process. */
const RETRY_AFTER_SECONDS = 10

const BAD_REQUEST = 400

const REQUEST_PARTS: Record<string, string> = { querystring: 'query', params: 'path', headers: 'header', body: 'body' }

function inputOf (request: FastifyRequest, context: string): unknown {
  return { querystring: request.query, params: request.params, headers: request.headers, body: request.body }[context]
}

/** Sends an error. The schema of the route may describe another body for this status, which would fail the response. */
function send (reply: FastifyReply, status: number, detail: unknown): void {
  void reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send({ detail })
}

function sendApiError (error: ApiError, reply: FastifyReply): void {
  // Not Basic, because the browser must not show its own dialog on a sign-in page.
  if (error.statusCode === 401) reply.header('www-authenticate', 'Bearer')
  // RFC 6750, 3.1. The body of a 403 is fixed for clients.
  if (error.statusCode === 403 && error.missingScopes.length > 0) {
    reply.header('www-authenticate', `Bearer error="insufficient_scope", scope="${error.missingScopes.join(' ')}"`)
  }
  if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds))
  const detail = error.fields === null ? error.message : { ...error.fields, message: error.message }
  send(reply, error.statusCode, error.violations ?? detail)
}

/** Returns the error of a request that failed because the database belongs to a newer release. */
function explainOldRelease (app: FastifyInstance): ApiError | null {
  const isOutdated = app.hasDecorator('findSchemaProblem') && app.findSchemaProblem() !== null
  return isOutdated ? new ApiError('UNAVAILABLE', 'This host is being upgraded; try again', { retryAfterSeconds: RETRY_AFTER_SECONDS }) : null
}

function sendUnexpected (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  // A broken connection to the database has the same code. A body also carries the error of what it is piped to.
  if (request.raw.errored === error && error.code === 'ECONNRESET') {
    request.log.debug({ err: error }, 'the client disconnected before its body was complete')
    send(reply, BAD_REQUEST, 'The request was interrupted; send it again')
    return
  }
  const diskError = explainDiskError(error)
  const explained = diskError ?? explainDatabaseError(error) ?? explainOldRelease(request.server)
  if (explained !== null) {
    const subject = diskError === null ? 'database' : 'disk'
    request.log.warn({ err: error }, `the ${subject} refused or could not finish the work of a request`)
    sendApiError(explained, reply)
    return
  }
  request.log.error({ err: error }, 'request failed')
  const status = error.statusCode === 503 ? 503 : 500
  send(reply, status, status === 503 ? error.message : `Internal Server Error (request ${request.id})`)
}

/** Headers that describe the content which a route was about to send. */
const CONTENT_HEADERS = ['accept-ranges', 'cache-control', 'content-disposition', 'content-encoding', 'content-length',
  'content-range', 'content-type', 'etag', 'last-modified']
/** RFC 9110, 14.4: the only content range that describes no content, but the refused request. */
const UNSATISFIED_RANGE = /^bytes \*\//

/**
 * Removes content headers. A stream may fail before its first byte, such as when its file is gone, and Fastify and Node
 * then already have its headers.
 */
function dropContentHeaders (reply: FastifyReply): void {
  for (const name of CONTENT_HEADERS) {
    if (UNSATISFIED_RANGE.test(String(reply.getHeader(name)))) continue
    reply.removeHeader(name)
    reply.raw.removeHeader(name)
  }
}

/** Handles all errors; the only place that writes an error body. */
export default fp(async (app) => {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    dropContentHeaders(reply)
    if (error instanceof ApiError) {
      sendApiError(error, reply)
    } else if (error.validation !== undefined) {
      const context = error.validationContext ?? 'body'
      const input = inputOf(request, context)
      const problems = error.validation as SchemaProblem[]
      const lines = problems.map((problem) => toViolation(problem, REQUEST_PARTS[context] ?? context, input))
      send(reply, 422, lines)
    } else if (error.code === 'FST_ERR_CTP_INVALID_JSON_BODY') {
      send(reply, 422, [{ type: 'json_invalid', loc: ['body'], msg: error.message }])
    } else if (error.statusCode !== undefined && error.statusCode < 500) {
      send(reply, error.statusCode, error.message)
    } else {
      sendUnexpected(error, request, reply)
    }
  })
  // Every 503 tells clients when to retry, also those without an error.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.statusCode === 503 && !reply.hasHeader('retry-after')) reply.header('retry-after', String(RETRY_AFTER_SECONDS))
    done(null, payload)
  })
  const findMethods = trackMethods(app)
  app.setNotFoundHandler((request, reply) => {
    const methods = findMethods(request.url)
    request.log.debug({ methods }, `there is no route ${request.method} ${request.url.split('?')[0]}`)
    // This exact text is required: apps take any other text as "the requested item is gone", and forget the item.
    if (methods.length === 0) send(reply, 404, 'Not Found')
    else send(reply.header('allow', methods.join(', ')), 405, 'Method Not Allowed')
  })
}, { name: 'error-handler', fastify: '5.x' })
