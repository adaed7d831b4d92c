import fc, { type Arbitrary } from 'fast-check'
import { type Schema, Known, Upload, isIdName, junk, kindOf, mostly, mutated, resolve, uploads, valid } from './values.ts'

interface Parameter { name: string, in: string, required?: boolean, schema: Schema }
export interface Operation {
  operationId: string
  description: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, unknown>
}
export interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
  'x-socket-events': { name: string }[]
}
export interface Place { method: string, path: string, operation: Operation }

/** A generated request, in which placeholders stand for ids of former responses. */
export interface Draft {
  place: Place
  path: Record<string, unknown>
  query: [name: string, value: unknown][]
  headers: Record<string, string>
  body: { type: string | null, value: unknown }
}

/** A request in its final form. */
export interface FuzzRequest {
  operationId: string
  method: string
  template: string
  url: string
  headers: Record<string, string>
  body: Buffer | null
}

const BOUNDARY = 'the-boundary-of-the-parts'
const FORM = `multipart/form-data; boundary=${BOUNDARY}`
const JSON_TYPE = 'application/json'
const FIELDS_TYPE = 'application/x-www-form-urlencoded'

export const listPlaces = (document: Document): Place[] => Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })))

const headers: Arbitrary<Record<string, string>> = fc.record({
  range: fc.constantFrom('bytes=0-', 'bytes=5-1', 'bytes=-0', 'bytes=0-0,2-3', 'bytes=99999999999999999999-', 'pages=1', 'bytes=0-0,'.repeat(200)),
  'if-none-match': fc.constantFrom('*', '"x"', 'W/""', '"'),
  'if-match': fc.constantFrom('*', '"x"', ','),
  'if-range': fc.constantFrom('"x"', 'Thu, 01 Jan 1970 00:00:00 GMT'),
  'if-modified-since': fc.constantFrom('Thu, 01 Jan 1970 00:00:00 GMT', 'yesterday'),
  accept: fc.constantFrom('*/*', 'text/html', 'image/png', ''),
  'accept-encoding': fc.constantFrom('gzip', 'br;q=1.0, *;q=0', 'identity;q=0', 'x'),
  'accept-language': fc.constantFrom('de', '*', 'a'.repeat(300)),
  'content-encoding': fc.constantFrom('gzip', 'br', 'x'),
  host: fc.constantFrom('evil.invalid', '127.0.0.1:1', '[', ''),
  origin: fc.constantFrom('https://evil.invalid', 'null', 'x'),
  'user-agent': fc.constantFrom('', 'a'.repeat(4_000), 'Mozilla/5.0 (Windows NT 10.0)', '\xff\xfe'),
  'x-forwarded-proto': fc.constantFrom('https', 'https,http', ''),
  'x-forwarded-host': fc.constantFrom('evil.invalid', ''),
  'x-http-method-override': fc.constant('DELETE'),
  expect: fc.constantFrom('200-ok', ''),
  cookie: fc.constantFrom('svc_session=x', 'svc_session=%00', 'a=b; a=b;;=;', 'svc_csrftoken=x'),
  'x-csrftoken': fc.constantFrom('x', ''),
  authorization: fc.constantFrom('Bearer x', 'Basic x', 'Basic Og==', 'Bearer', 'Digest username="x"', `Bearer ${'a'.repeat(5_000)}`)
}, { requiredKeys: [] })
/** Most requests have no extra headers, because each header may end a request before any other check. */
const fewHeaders = mostly(6, fc.constant<Record<string, string>>({}), fc.tuple(headers, fc.nat()).map(([all, pick]) => {
  const entries = Object.entries(all)
  return Object.fromEntries([pick, pick >> 8].flatMap((at) => entries.slice(at % (entries.length + 1)).slice(0, 1)))
}))

const eager = (good: Arbitrary<unknown>, weight: number) => mostly(weight, good, junk)

/**
 * Returns values for `{id}` and similar parameters. The preceding part of the path names the kind if the name does not.
 */
function pathValue (path: string, { name, schema }: Parameter): Arbitrary<unknown> {
  const before = path.split(`/{${name}}`, 1)[0]?.split('/').at(-1) ?? ''
  const isOwnName = isIdName(name) && kindOf(name) !== '' && !['channel_id', 'session_id', 'token_id'].includes(name)
  const kind = isOwnName ? kindOf(name) : kindOf(before)
  if (!isIdName(name) && !/code/.test(name)) return eager(valid(schema, name), 6)
  return fc.oneof(
    { weight: 12, arbitrary: fc.nat(999).map((pick) => new Known(kind, pick)) },
    { weight: 1, arbitrary: valid({ type: 'integer', minimum: 0 }) }, { weight: 1, arbitrary: junk })
}

/** Returns the form of an operation without a described body, whose parts are named in its description. */
function formOf (operation: Operation): Schema | null {
  const parts = [...operation.description.matchAll(/`(\w+File)`/g)].map(([, name]) => name ?? '')
  if (parts.length === 0) return null
  const fields = (operation.parameters ?? []).filter((one) => one.in === 'query').map((one) => [one.name, one.schema] as const)
  return {
    type: 'object',
    properties: { ...Object.fromEntries(fields), ...Object.fromEntries(parts.map((name) => [name, { contentMediaType: '*/*' }])) },
    required: parts.slice(0, 1)
  }
}

/** Adds the settings of a channel, which are keys beside its others. */
function withSettings (schema: Schema, { components }: Document): Schema {
  if (schema.properties?.min_level === undefined) return schema
  const settings = Object.entries(components.schemas).filter(([name]) => /^channel_\w+_settings$/.test(name))
  return {
    anyOf: settings.map(([name, own]) => ({
      ...schema,
      properties: { ...schema.properties, ...own.properties, type: { enum: [name.split('_')[1]] } },
      required: [...schema.required ?? [], ...own.required ?? []]
    }))
  }
}

function bodies (operation: Operation, document: Document): Arbitrary<Draft['body']> {
  const described: [type: string, schema: Schema][] = Object.entries(operation.requestBody?.content ?? {})
    .map(([type, { schema }]) => [type, withSettings(schema, document)])
  const form = formOf(operation)
  if (form !== null) described.push(['multipart/form-data', form])
  const odd = fc.record({
    type: fc.constantFrom(JSON_TYPE, FIELDS_TYPE, FORM, 'multipart/form-data', 'text/plain', 'application/xml', 'application/json; charset=utf-16', '', 'x/'),
    value: fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom('{', '[', '', 'null', '"', '{"a":1', '{"a":1}{', '\ufeff{}', `--${BOUNDARY}\r\n\r\n`, `--${BOUNDARY}--`,
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="saveFile"; filename="a`, 'a=b&a=c&%zz', `${'['.repeat(200_000)}`,
        `{"a":${'1'.repeat(100_000)}}`, '{"__proto__":{"x":1}}').map((text) => Buffer.from(text)))
  })
  if (described.length === 0) {
    return mostly<Draft['body']>(9, fc.constant({ type: null, value: null }), odd)
  }
  return fc.constantFrom(...described).chain(([type, schema]) => fc.oneof(
    { weight: 6, arbitrary: valid(schema).map((value) => ({ type, value })) },
    { weight: 3, arbitrary: mutated(schema).map((value) => ({ type, value })) },
    { weight: 1, arbitrary: uploads.map((file) => ({ type: 'multipart/form-data', value: { saveFile: file, avatar: file } })) },
    { weight: 1, arbitrary: odd }))
}

/** Generates requests to one operation: valid ones, nearly valid ones, and absurd ones. */
export function drafts (place: Place, document: Document): Arbitrary<Draft> {
  const parameters = place.operation.parameters ?? []
  const path = fc.record(Object.fromEntries(parameters.filter((one) => one.in === 'path')
    .map((one) => [one.name, pathValue(place.path, one)])))
  const queried = parameters.filter((one) => one.in === 'query')
  const query = fc.record(Object.fromEntries(queried.map((one) => [one.name, eager(valid(one.schema, one.name), 8)])),
    { requiredKeys: queried.filter((one) => one.required === true).map((one) => one.name) })
  return fc.record({
    path, headers: fewHeaders, body: bodies(place.operation, document),
    query: fc.tuple(query, fc.array(fc.nat(3), { minLength: queried.length, maxLength: queried.length }))
      .map(([all, coins]) => Object.entries(all).filter(([name], index) =>
        coins[index] === 0 || queried.some((one) => one.name === name && one.required === true)))
  }).map((rest) => ({ place, ...rest }))
}

const plain = (value: unknown): string =>
  (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)).toWellFormed().slice(0, 3_000)

function encodeForm (value: unknown): Buffer {
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [['x', value] as const]
  const parts = fields.map(([name, one]) => {
    const isFile = one instanceof Upload
    const fileName = isFile ? `; filename="${one.name.replaceAll('"', '%22')}"` : ''
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${fileName}\r\n\r\n`
    return Buffer.concat([Buffer.from(head), isFile ? one.content : Buffer.from(plain(one)), Buffer.from('\r\n')])
  })
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])
}

function encodeBody ({ type, value }: Draft['body']): { type: string | null, bytes: Buffer | null } {
  if (type === null) return { type, bytes: null }
  if (Buffer.isBuffer(value)) return { type, bytes: value }
  if (type.startsWith('multipart/')) return { type: FORM, bytes: encodeForm(value) }
  if (type !== FIELDS_TYPE) return { type, bytes: Buffer.from(JSON.stringify(value) ?? '') }
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const search = new URLSearchParams(fields.map(([name, one]): [string, string] => [name, plain(one)]))
  return { type, bytes: Buffer.from(search.toString()) }
}

/** Replaces placeholders by ids of former responses, and encodes the request. */
export function encode ({ place, path, query, headers, body }: Draft, look: (known: Known) => unknown): FuzzRequest {
  const filled = place.path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(plain(resolve(path[name], look))))
  const search = query.flatMap(([name, value]) => {
    const given = resolve(value, look)
    return (Array.isArray(given) ? given.slice(0, 20) : [given]).map((one) => `${name}=${encodeURIComponent(plain(one))}`)
  }).join('&')
  const value = Buffer.isBuffer(body.value) ? body.value : resolve(body.value, look)
  const { type, bytes } = encodeBody({ type: body.type, value })
  return {
    operationId: place.operation.operationId, method: place.method, template: place.path,
    url: search === '' ? filled : `${filled}?${search}`,
    headers: { ...headers, ...(type === null ? {} : { 'content-type': type }) },
    body: bytes
  }
}
