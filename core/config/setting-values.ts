import type { TSchema } from '@sinclair/typebox'
import { readBoolean } from './boolean-words.ts'
import type { Setting } from './schema.ts'

/** Returns the leaves of an object schema with their paths. */
export function listSettings (schema: TSchema, path: string[] = []): Setting[] {
  if (schema.type !== 'object' || schema.properties === undefined) {
    return [{ path, schema, env: typeof schema.env === 'string' ? schema.env : undefined }]
  }
  return Object.entries(schema.properties as Record<string, TSchema>)
    .flatMap(([key, property]) => listSettings(property, [...path, key]))
}

/** Converts the text of an environment variable to the schema's type; returns text that does not fit unchanged. */
export function coerceText (text: string, schema: TSchema): unknown {
  const word = text.trim().toLowerCase()
  if (schema.type === 'boolean') return readBoolean(word) ?? text
  if (schema.type === 'integer' || schema.type === 'number') return /^-?\d+(\.\d+)?$/.test(word) ? Number(word) : text
  if (schema.type === 'array') return text.split(',').map((part) => part.trim()).filter(Boolean)
  return text
}

/** Returns the value at a path, or undefined. */
export function getAt (value: unknown, path: string[]): unknown {
  return path.reduce<unknown>((at, key) =>
    typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined, value)
}
