import type { Violation } from '../errors.ts'

/** What a validator says of one thing that is wrong. */
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

/** A validator's complaint as one line of a 422 answer, the offending key included in its place. */
export function toViolation (problem: SchemaProblem, place: string, input: unknown): Violation {
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
  // Objects are not repeated: they may be large, or nested deeper than can be written.
  const isShown = value !== undefined && (typeof value !== 'object' || value === null)
  return { type: problem.keyword, loc: [place, ...loc], msg: message, ...(isShown ? { input: value } : {}) }
}

function describeMessage (problem: SchemaProblem): string {
  const allowed = problem.params?.allowedValues
  const text = problem.message ?? 'is not valid'
  return Array.isArray(allowed) ? `${text}: ${allowed.join(', ')}` : text
}
