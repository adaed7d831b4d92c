import type { TSchema } from '@sinclair/typebox'
import { Value, type ValueError } from '@sinclair/typebox/value'
import type { Violation } from '../errors.ts'

/** A validator's description of one error. */
export interface SchemaProblem {
  instancePath: string
  keyword: string
  message?: string
  params?: Record<string, unknown>
}

function toKey (part: string): string | number {
  const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
  return /^\d+$/.test(key) ? Number(key) : key
}

function valueAt (input: unknown, path: (string | number)[]): unknown {
  return path.reduce<unknown>((at, key) =>
    typeof at === 'object' && at !== null ? (at as Record<string | number, unknown>)[key] : undefined, input)
}

/** Converts a validator's error to one entry of a 422 response; its place includes the invalid key. */
export function toViolation (problem: SchemaProblem, location: string, input: unknown): Violation {
  const path = problem.instancePath.split('/').slice(1).map(toKey)
  const params = problem.params ?? {}
  const named = params.additionalProperty ?? params.missingProperty
  const loc = typeof named === 'string' ? [...path, named] : path
  const message = typeof params.additionalProperty === 'string'
    ? `Unknown key '${params.additionalProperty}'`
    : typeof params.missingProperty === 'string'
      ? `'${params.missingProperty}' is required`
      : describeMessage(problem)
  const value = problem.keyword === 'required' ? undefined : valueAt(input, loc)
  // Objects are not repeated, because they may be large, or nested deeper than JSON can be written.
  const isShown = value !== undefined && (typeof value !== 'object' || value === null)
  return { type: problem.keyword, loc: [location, ...loc], msg: message, ...(isShown ? { input: value } : {}) }
}

function describeMessage (problem: SchemaProblem): string {
  const allowed = problem.params?.allowedValues
  const text = problem.message ?? 'is not valid'
  return Array.isArray(allowed) ? `${text}: ${allowed.join(', ')}` : text
}

/** Returns the errors of a value, one for each path. A missing value has two: it is missing, and it has no type. */
export const listErrors = (schema: TSchema, value: unknown): ValueError[] =>
  [...new Map([...Value.Errors(schema, value)].map((error) => [error.path, error])).values()]
