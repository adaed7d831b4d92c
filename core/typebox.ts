import type {
  FastifyBaseLogger, FastifyInstance, FastifyPluginAsync, RawReplyDefaultExpression,
  RawRequestDefaultExpression, RawServerDefault
} from 'fastify'
import { Kind, type StringOptions, type TProperties, type TSchema, type Static, Type, TypeRegistry } from '@sinclair/typebox'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { BIDI_CONTROLS } from './files/bidi-controls.ts'

export type App = FastifyInstance<RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression,
  FastifyBaseLogger, TypeBoxTypeProvider>

/** A route module; the types of its inputs come from their schemas. */
export type Routes = FastifyPluginAsync<Record<never, never>, RawServerDefault, TypeBoxTypeProvider>

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

TypeRegistry.Set<{ enum: readonly unknown[] }>('StringEnum', (schema, value) => schema.enum.includes(value))

/** A union of literals from a list, shown as an `enum` in the API document. */
export function StringEnum<const T extends readonly string[]> (values: T, options: object = {}) {
  return Type.Unsafe<T[number]>({ [Kind]: 'StringEnum', type: 'string', enum: [...values], ...options })
}

/** ISO 8601 with offset, UTC. */
export const DateTime = Type.String({ format: 'date-time' })

/** The largest id that a column can hold; a larger one would be an error of the database instead of a 422. */
export const ID_MAX = 2_147_483_647
export const Id = Type.Integer({ minimum: 1, maximum: ID_MAX })
export const idOf = (what: string) => Type.Integer({ minimum: 1, maximum: ID_MAX, description: `Id of ${what}` })
export const IdParams = Type.Object({ id: idOf('the entity in the path, as in lists') })
/** The most rows of one response, whatever limit is requested. */
export const LIMIT_MAX = 10_000
export const Limit = Type.Integer({ default: 50, minimum: 1, maximum: LIMIT_MAX, description: 'The most rows in the response' })
export const Offset = Type.Integer({ default: 0, minimum: 0, maximum: ID_MAX, description: 'Rows to skip at the beginning' })
/** The content of a file: of a response, or of a part of a form. */
export const Bytes = bytesOf('application/octet-stream')
/** The content of a file that is sent with one of some media types, or of a range such as `image/*`. */
export function bytesOf (...types: [string, ...string[]]) {
  return Type.Unsafe<unknown>({ type: 'string', format: 'binary', contentMediaType: types.join(', ') })
}
/** Returns a body schema as a form with an additional file, for the API document. */
export const withFile = (body: TSchema, part: string): TSchema =>
  ({ ...body, title: `${body.title}Form`, properties: { ...body.properties as TProperties, [part]: Bytes } })
/** A response without a body, unlike one with the body `null`. */
export const EmptyBody = Type.Null({ 'x-empty': true })
/** Text that may go to the database, which refuses NUL. */
export const StoredText = (options: StringOptions = {}) => Type.String({ pattern: '^[^\\u0000]*$', ...options })

/** A name that one person sets and others read. */
export const NameText = (options: StringOptions = {}) =>
  Type.String({ pattern: `^[^\\u0000${BIDI_CONTROLS}]*$`, ...options })

export const ErrorSchema = Type.Object({ detail: Type.String() }, { $id: 'Error' })
export const ValidationErrorSchema = Type.Object({
  detail: Type.Array(Type.Object({
    loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
    msg: Type.String(),
    type: Type.String(),
    input: Type.Optional(Type.Unknown())
  }))
}, { $id: 'ValidationError' })
/** A 422 of an operation that also refuses some values with a text. */
export const InvalidSchema = Type.Object({
  detail: Type.Union([Type.String(), ValidationErrorSchema.properties.detail])
}, { title: 'InvalidValue' })

export type { Static }

/**
 * Formats a date, or milliseconds since 1970, for the API: UTC with offset, and six fraction digits only if there is a
 * fraction.
 */
export function formatDate (date: Date | number): string
export function formatDate (date: Date | number | null): string | null
export function formatDate (date: Date | number | null): string | null {
  if (date === null) return null
  const text = new Date(date).toISOString()
  return text.endsWith('.000Z') ? `${text.slice(0, -5)}+00:00` : `${text.slice(0, -1)}000+00:00`
}
