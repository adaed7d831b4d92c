import { type SerializerFactory, SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import ajvFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from '@sinclair/typebox'
import { readBoolean } from '../config/boolean-words.ts'
import type { Violation } from '../errors.ts'
import { toViolation } from './violations.ts'

type Serializer = ReturnType<ReturnType<SerializerFactory>>

const buildNow = SerializerSelector()
/** The most characters shown of a refused value. */
const SHOWN_MAX = 100

/**
 * One compiler of each kind for the whole process, because creating one takes longer than compiling most schemas. A
 * compiler identifies a schema by its object, not by its name.
 */
const compilers = new Map<string, Ajv>()

function compilerFor (coerces: boolean, allErrors: boolean): Ajv {
  const kind = `${coerces} ${allErrors}`
  const compiled = compilers.get(kind)
  if (compiled !== undefined) return compiled
  const ajv = new Ajv({
    coerceTypes: coerces ? 'array' : false, useDefaults: true, removeAdditional: false, allErrors,
    strict: false, validateFormats: true, addUsedSchema: false,
    // The schema of schemas takes 100 ms of the first request. `test/contract/openapi.test.ts` checks all schemas.
    validateSchema: false
  })
  ajvFormats.default(ajv, ['date-time', 'uri', 'uuid', 'email'])
  compilers.set(kind, ajv)
  return ajv
}

/** Converts the words that clients use for booleans in queries. */
function readBooleanWords (schema: TSchema, input: unknown): void {
  if (typeof input !== 'object' || input === null) return
  const values = input as Record<string, unknown>
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, TSchema>)) {
    const value = values[name]
    if (property.type === 'boolean' && typeof value === 'string') values[name] = readBoolean(value) ?? value
  }
}

/**
 * Creates a validator compiler. Schemas are compiled at first use, because compiling all of them is most of the cost of
 * a start. Each process would do so for routes that it may never serve.
 *
 * Queries, paths and headers are text and are converted to their schema's types. Bodies are not converted, because
 * coercion would turn a meaningful null into 0.
 *
 * @param allErrors false if bodies may be so large that a list of all errors would fill the memory
 */
export function createValidatorCompiler (allErrors = true): FastifySchemaCompiler<TSchema> {
  return ({ schema, httpPart }) => {
    const isBody = httpPart === 'body'
    let validate: ValidateFunction | null = null
    function check (input: unknown): boolean {
      if (!isBody) readBooleanWords(schema, input)
      validate ??= compilerFor(!isBody, allErrors).compile(schema)
      const isValid = validate(input)
      check.errors = validate.errors
      return isValid
    }
    check.errors = null as ErrorObject[] | null | undefined
    return check
  }
}

/** A value with its defaults applied, or a text that names each invalid field. */
export type ReadResult = { value: unknown } | { problem: string }

function describeViolation ({ loc, msg, type, input }: Violation): string {
  const given = input === undefined || type === 'additionalProperties' ? '' : `, not ${JSON.stringify(input).slice(0, SHOWN_MAX)}`
  return `${loc.slice(1).join('.') || 'payload'}: ${msg}${given}`
}

/**
 * Creates a reader for payloads from other channels than HTTP. It validates them as request bodies and applies the
 * defaults in place.
 */
export function createReader (schema: TSchema): (given: unknown) => ReadResult {
  const validate = createValidatorCompiler()({ schema, httpPart: 'body', method: '', url: '' }) as ValidateFunction
  return (given) => {
    if (validate(given)) return { value: given }
    const lines = (validate.errors ?? []).map((problem) => describeViolation(toViolation(problem, 'payload', given)))
    return { problem: [...new Set(lines)].join('; ') }
  }
}

/** Builds Fastify's own serializer, but at first use. */
export const buildSerializer: SerializerFactory = (schemas, options) => (route) => {
  let serialize: Serializer | null = null
  return (data) => {
    serialize ??= buildNow(schemas, options)(route)
    return serialize(data)
  }
}
