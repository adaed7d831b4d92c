import { Ajv, type ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'

// The settings of the host's own validator, except for coercion, because a plugin must return the right types.
const ajv = new Ajv({ allErrors: true, strict: false, useDefaults: true })
addFormats.default(ajv)

/** @throws Error that lists the mismatches with their values. */
export function checkSchema (schema: object, value: unknown, what: string) {
  if (ajv.validate(schema, structuredClone(value))) return
  const problems = (ajv.errors ?? []).slice(0, 10).map((error) => `  ${describe(error, value)}`)
  throw new Error(`${what} does not fit its schema:\n${problems.join('\n')}`)
}

/** Returns a copy with the defaults of the schema. */
export function fillDefaults (schema: object, value: unknown): unknown {
  const copy: unknown = structuredClone(value)
  ajv.validate(schema, copy)
  return copy
}

function describe ({ instancePath, message = 'is wrong' }: ErrorObject, value: unknown): string {
  const found = instancePath.split('/').slice(1).reduce<unknown>((part, name) =>
    typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined, value)
  return `${instancePath === '' ? 'it' : instancePath} ${message}; it is ${JSON.stringify(found)?.slice(0, 200)}`
}
