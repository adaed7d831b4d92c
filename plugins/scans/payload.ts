import { Kind, type TSchema } from '@sinclair/typebox'
import { Value, type ValueError } from '@sinclair/typebox/value'
import type { ScanPayload } from './schemas.ts'

function describe ({ path, message, schema, value }: ValueError): string {
  const name = path.slice(1).replaceAll('/', '.') || 'payload'
  const allowed = schema[Kind] === 'StringEnum' && Array.isArray(schema.enum)
    ? `${JSON.stringify(value)} is not one of ${schema.enum.join(', ')}`
    : message
  return `${name}: ${allowed}`
}

/** A payload with its defaults filled in, or what is wrong with it, each field named. */
export function readPayload (schema: TSchema, given: unknown): { payload: ScanPayload } | { problem: string } {
  const filled: unknown = Value.Default(schema, given ?? {})
  const lines = [...Value.Errors(schema, filled)].map(describe)
  return lines.length === 0 ? { payload: filled as ScanPayload } : { problem: [...new Set(lines)].join('; ') }
}
