import type { TSchema } from '@sinclair/typebox'

/** True if a schema or a part of it is a secret. */
export function isSecret (schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return ('writeOnly' in schema && schema.writeOnly === true) || Object.values(schema).some(isSecret)
}

/** True if the values of a setting are known beforehand, so that none of them is the address of a server. */
export function isChoice (schema: TSchema): boolean {
  if (schema.type === 'boolean' || schema.const !== undefined || Array.isArray(schema.enum)) return true
  if (schema.type === 'array' && !Array.isArray(schema.items)) return isChoice(schema.items as TSchema)
  return Array.isArray(schema.anyOf) && schema.anyOf.every((one: TSchema) => isChoice(one))
}
