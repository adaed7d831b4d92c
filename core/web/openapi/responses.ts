import { type Json, isObject } from './keywords.ts'

export interface Operation extends Json { summary?: string, responses?: Record<string, Json> }
/** The operations of an API, by path and method. */
export type Paths = Readonly<Record<string, Record<string, Operation>>>

/** The description that @fastify/swagger writes for a schema without one. */
const NO_DESCRIPTION = 'Default Response'

/** Descriptions of statuses that have the same meaning in all operations. */
const STATUSES: Readonly<Record<string, string>> = {
  201: 'Created',
  202: 'Accepted; the work continues after this response',
  204: 'Done',
  206: 'The part that `Range` requests',
  304: 'Not modified since the version that the caller has',
  400: 'The request is wrong; `detail` names the error and the remedy',
  401: 'No credential, or one that is not valid any more',
  403: 'Not allowed for this caller: scopes, a grant, or a rule of the server',
  404: 'Does not exist, or is hidden from the caller',
  409: 'Conflicts with the present state: a name that is taken, another change, or running work',
  410: 'Existed, and is permanently gone',
  412: 'The present version is not the one that the request expects',
  413: 'Larger than the server accepts',
  415: 'A content type that this operation does not support',
  416: '`Range` begins after the end of the content',
  422: 'Values that the schema does not allow; `detail` lists each with its path',
  423: 'Locked by another caller',
  428: 'Needs a decision by the caller first',
  429: 'Too many requests; `Retry-After` tells when to try again',
  500: 'An error of the server, not of the request',
  502: 'A service that the server needs failed',
  503: 'Not available at present; try again later',
  507: 'Not enough space on the disk'
}

/** Describes the responses of an operation; a success without its own description gets the operation's summary. */
function describeOperation (operation: Operation): Operation {
  const responses = Object.entries(operation.responses ?? {}).map(([status, response]) => {
    const description = response.description === NO_DESCRIPTION
      ? STATUSES[status] ?? operation.summary ?? 'Done'
      : response.description
    return [status, { ...response, description }]
  })
  return { ...operation, responses: Object.fromEntries(responses) as Record<string, Json> }
}

/** Statuses whose responses have no body: redirects, and https://www.rfc-editor.org/rfc/rfc9110#section-6.4.1. */
const BODILESS = /^(204|3\d\d)$/

/** True if a response with this schema has the body `null`. */
export const isNullBody = (status: string, schema: unknown): boolean =>
  isObject(schema) && schema.type === 'null' && schema['x-empty'] !== true && !BODILESS.test(status)

/** Gives responses whose body is `null` a content, which @fastify/swagger writes for no schema of that type. */
export function describeNulls (responses: Json): Json {
  return Object.fromEntries(Object.entries(responses).map(([status, schema]) =>
    [status, isNullBody(status, schema) ? { content: { 'application/json': { schema: { type: 'null' } } } } : schema]))
}

/** Replaces each operation by the result of a function. */
export function mapOperations (paths: Paths, change: (operation: Operation) => Operation): Paths {
  return Object.fromEntries(Object.entries(paths).map(([path, operations]) => [path, Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [method, change(operation)])
  )]))
}

/** Gives each response without a description that of its status. */
export const describeResponses = (paths: Paths): Paths => mapOperations(paths, describeOperation)
