import type { TSchema } from '@sinclair/typebox'
import { Bytes } from '../../typebox.ts'
import type { Json } from './keywords.ts'
import { type Operation, type Paths, mapOperations } from './responses.ts'

type Content = Readonly<Record<string, { schema: Json }>>

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

/** Sets the media types of files to those in their schema. */
function setMediaTypes (response: Json): Json {
  const content = contentOf(response)
  if (content === undefined) return response
  const typed = Object.values(content).find(({ schema }) => schema.contentMediaType !== undefined)
  if (typed === undefined) return response
  const { contentMediaType, ...schema } = typed.schema
  return { ...response, content: Object.fromEntries(String(contentMediaType).split(', ').map((type) => [type, { schema }])) }
}

/** Adds the parts of a form that are files, which the body's schema does not contain. */
function describeForm ({ [KEY]: files, ...operation }: Operation): Operation {
  if (files === undefined) return operation
  const { requestBody } = operation as { requestBody?: { content: Content } }
  return { ...operation, requestBody: { required: true, content: { ...requestBody?.content, ...files } } }
}

function describeOperation (operation: Operation): Operation {
  const responses = Object.entries(operation.responses ?? {})
    .map(([status, response]) => [status, setMediaTypes(response)])
  const described = Object.fromEntries(responses) as Record<string, Json>
  return describeRanges({ ...describeForm(operation), responses: described })
}

const isBinary = (response: Json) =>
  Object.values(contentOf(response) ?? {}).some(({ schema }) => schema.format === 'binary')

const header = (name: string, description: string) =>
  ({ name, in: 'header', required: false, schema: { type: 'string' }, description })

/** Request headers of a resumable download: https://www.rfc-editor.org/rfc/rfc9110#section-14.2 */
const RANGE_PARAMETERS = [
  header('Range', 'The part to send, such as `bytes=1048576-`'),
  header('If-Range', 'The `ETag` of the part that the caller has; another version is sent whole'),
  header('If-None-Match', 'The `ETag` of the version that the caller has; the same version answers 304')
]

const TEXT_HEADER = { schema: { type: 'string' } }
const ETAG = { ETag: { ...TEXT_HEADER, description: 'Names this version of the file' } }
const CONTENT_RANGE = { 'Content-Range': { ...TEXT_HEADER, description: 'The part that is sent, and the size of the whole' } }
/** Response headers of a resumable download, by status. */
const RANGE_HEADERS: Readonly<Record<string, Json>> = {
  200: { ...ETAG, 'Accept-Ranges': { ...TEXT_HEADER, description: '`bytes`' } },
  206: { ...ETAG, ...CONTENT_RANGE },
  304: ETAG,
  416: CONTENT_RANGE
}

/** Adds the headers with which a download is resumed to an operation that sends parts of files. */
function describeRanges (operation: Operation): Operation {
  const { parameters = [], responses = {} } = operation as Operation & { parameters?: readonly Json[] }
  if (!('206' in responses)) return operation
  const described = Object.entries(responses).map(([status, response]): [string, Json] => {
    const headers = RANGE_HEADERS[status]
    if (headers === undefined) return [status, response]
    return [status, { ...response, headers: { ...headers, ...response.headers as Json | undefined } }]
  })
  return {
    ...operation,
    parameters: [...parameters, ...RANGE_PARAMETERS],
    responses: Object.fromEntries<Json>(described)
  }
}

/** Returns the HEAD operation of a route that sends files: it reports their size and whether they changed. */
function headOf (operation: Operation): Operation {
  const responses = Object.entries(operation.responses ?? {})
    .map(([status, { content: _content, ...response }]) => [status, response])
  return {
    ...operation,
    operationId: String(operation.operationId).replace(/^[a-z]+/, 'head'),
    summary: `Only the headers of: ${operation.summary}`,
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
  return Object.fromEntries(Object.entries(mapOperations(paths, describeOperation))
    .map(([path, operations]) => [path, withHead(operations)]))
}
