import { inspect } from 'node:util'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import {
  CredentialsRefusedError, DeliveryRefusedError, HttpStatusError, InvalidSettingsError, RateLimitedError,
  ServiceDownError
} from '@svc/plugin-sdk'

const Maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Undefined()]))

/** An error in the form that is sent to another process. */
export const ErrorFieldsSchema = Type.Object({
  name: Type.String(),
  message: Type.String(),
  /** The number under which the end that first threw the error stores it, and the id of that end. */
  ref: Type.Union([Type.Object({ owner: Type.String(), number: Type.Number() }), Type.Null()]),
  retryAfterMs: Maybe(Type.Number()),
  status: Maybe(Type.Number()),
  body: Maybe(Type.String()),
  code: Maybe(Type.String())
})
export type ErrorFields = Static<typeof ErrorFieldsSchema>

/** The most errors stored for their return: far more than are ever in transit. */
const SENT_MAX = 256
/** The longest message of a stored error. A longer one quotes a value of any length, and is rebuilt when it returns. */
const MESSAGE_MAX = 10_000

const REBUILD: Readonly<Record<string, (fields: ErrorFields) => Error>> = {
  CredentialsRefusedError: ({ message }) => new CredentialsRefusedError(message),
  RateLimitedError: ({ message, retryAfterMs }) => new RateLimitedError(message, retryAfterMs),
  ServiceDownError: ({ message }) => new ServiceDownError(message),
  HttpStatusError: ({ message, status = 0, body = '' }) => new HttpStatusError(status, message, body),
  InvalidSettingsError: ({ message }) => new InvalidSettingsError(message),
  DeliveryRefusedError: ({ message }) => new DeliveryRefusedError(message)
}

/**
 * Returns a text of a plugin that can be logged, stored and shown: cut to a length, without control characters and
 * halves of surrogate pairs, which PostgreSQL refuses.
 */
export const toPrintable = (text: string, max: number): string =>
  text.slice(0, max).toWellFormed().replaceAll(/(?![\n\t])\p{Cc}/gu, '')

/** The most characters shown of a thrown value that is no error. */
const SHOWN_MAX = 100

/** Returns the text of a value that a plugin threw, which may be of any type. */
export function messageOf (thrown: unknown): string {
  if (thrown instanceof Error) return String(thrown.message) || `${String(thrown.name)} without a message`
  if (typeof thrown === 'string' && thrown !== '') return thrown
  return `it threw ${inspect(thrown, { customInspect: false, depth: 0 }).slice(0, SHOWN_MAX)}, which is no error`
}

function rebuild (given: ErrorFields): Error {
  const fields = { ...given, message: toPrintable(given.message, MESSAGE_MAX) }
  if (Object.hasOwn(REBUILD, fields.name)) return REBUILD[fields.name]?.(fields) ?? new Error(fields.message)
  const { name, message, code } = fields
  return Object.assign(new Error(message), { name }, code === undefined ? {} : { code })
}

const textOf = (value: unknown) => typeof value === 'string' ? value : undefined
/** Returns a finite number only, because the schema of messages refuses NaN. */
const numberOf = (value: unknown) => typeof value === 'number' && Number.isFinite(value) ? value : undefined

function describe (thrown: unknown): Omit<ErrorFields, 'ref'> {
  if (!(thrown instanceof Error)) return { name: 'Error', message: messageOf(thrown) }
  const { retryAfterMs, status, body, code } = thrown as Partial<Record<keyof ErrorFields, unknown>>
  return {
    name: String(thrown.name), message: String(thrown.message), retryAfterMs: numberOf(retryAfterMs),
    status: numberOf(status), body: textOf(body), code: textOf(code)
  }
}

/** Converts errors for sending and back. An error that returns to its origin is the original object again. */
export function createErrorBook () {
  const owner = crypto.randomUUID()
  const sentErrors = new Map<number, unknown>()
  const foreign = new WeakMap<Error, ErrorFields>()
  let lastNumber = 0

  function registerError (thrown: unknown): number {
    lastNumber++
    if (!(thrown instanceof Error) || thrown.message.length <= MESSAGE_MAX) sentErrors.set(lastNumber, thrown)
    sentErrors.delete(lastNumber - SENT_MAX)
    return lastNumber
  }

  return {
    toFields (thrown: unknown): ErrorFields {
      const received = thrown instanceof Error ? foreign.get(thrown) : undefined
      return received ?? { ...describe(thrown), ref: { owner, number: registerError(thrown) } }
    },
    toError (fields: ErrorFields): unknown {
      const { ref } = fields
      if (ref?.owner === owner && sentErrors.has(ref.number)) return sentErrors.get(ref.number)
      const error = rebuild(fields)
      foreign.set(error, fields)
      return error
    }
  }
}
export type ErrorBook = ReturnType<typeof createErrorBook>
