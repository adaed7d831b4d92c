import type { TSchema } from '@sinclair/typebox'
import { Bytes } from '../typebox.ts'
import type { Operation } from './responses.ts'

type Json = Readonly<Record<string, unknown>>
type Content = Readonly<Record<string, { schema: Json }>>
type Paths = Readonly<Record<string, Record<string, Operation>>>

const FORM = 'multipart/form-data'
const OCTETS = 'application/octet-stream'
/** The key that carries an operation's files through the generator of the document. */
const KEY = 'x-files'

declare module 'fastify' {
  interface FastifySchema {
    /** The parts of the form that an operation reads itself, for the document only. */
    form?: TSchema
  }
}

/** Returns the keys of an operation that describe its uploaded files. */
export function copyForm ({ form, consumes = [] }: { form?: TSchema, consumes?: readonly string[] }): Json {
  const files = {
    ...(form === undefined ? {} : { [FORM]: { schema: form } }),
    ...(consumes.includes(OCTETS) ? { [OCTETS]: { schema: Bytes } } : {})
  }
  return Object.keys(files).length === 0 ? {} : { [KEY]: files }
}

const contentOf = (response: Json) => response.content as Content | undefined

/** Sets the media type of files to the one in their schema. */
function typeContent (response: Json): Json {
  const content = contentOf(response)
  if (content === undefined) return response
  const typed = Object.values(content).find(({ schema }) => schema.contentMediaType !== undefined)
  return typed === undefined ? response : { ...response, content: { [String(typed.schema.contentMediaType)]: typed } }
}

/** Adds the parts of a form that are files, which the body's schema does not contain. */
function describeForm ({ [KEY]: files, ...operation }: Operation): Operation {
  if (files === undefined) return operation
  const { requestBody } = operation as { requestBody?: { content: Content } }
  return { ...operation, requestBody: { required: true, content: { ...requestBody?.content, ...files } } }
}

function describeOperation (operation: Operation): Operation {
  const responses = Object.entries(operation.responses ?? {})
    .map(([status, response]) => [status, typeContent(response)])
  return { ...describeForm(operation), responses: Object.fromEntries(responses) as Record<string, Json> }
}

const isBinary = (response: Json) =>
  Object.values(contentOf(response) ?? {}).some(({ schema }) => schema.format === 'binary')

/** Returns the HEAD operation of a route that sends files: it reports their size and whether they changed. */
function headOf (operation: Operation): Operation {
  const responses = Object.entries(operation.responses ?? {})
    .map(([status, { content: _content, ...response }]) => [status, response])
  return {
    ...operation,
    operationId: String(operation.operationId).replace(/^[a-z]+/, 'head'),
    summary: `The headers of: ${operation.summary}`,
    responses: Object.fromEntries(responses) as Record<string, Json>
  }
}

function withHead (operations: Record<string, Operation>): Record<string, Operation> {
  const { get } = operations
  const isFile = Object.values(get?.responses ?? {}).some(isBinary)
  return get === undefined || !isFile ? operations : { ...operations, head: headOf(get) }
}

/** Describes content that is not JSON: forms with files, sent files, and their HEAD operations. */
export function describeMedia (paths: Paths): Paths {
  return Object.fromEntries(Object.entries(paths).map(([path, operations]) => [path, withHead(Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [method, describeOperation(operation)])
  ))]))
}
