import type { TSchema } from '@sinclair/typebox'
import { describeFormat } from './formats.ts'

/** Returns a noun phrase for the values that a schema allows. */
export function describeType (schema: TSchema): string {
  if (schema.const !== undefined) return String(schema.const)
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(', ')}`
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((one: TSchema) => describeType(one)).join(' or ')
  if (schema.type === 'null') return 'null'
  if (schema.type === 'boolean') return 'true or false'
  if (schema.type === 'integer' || schema.type === 'number') {
    const range = [schema.minimum === undefined ? '' : ` from ${schema.minimum}`,
      schema.maximum === undefined ? '' : ` to ${schema.maximum}`].join('')
    return `a ${schema.type === 'integer' ? 'whole ' : ''}number${range}`
  }
  if (schema.type === 'array') return 'a list'
  if (schema.type === 'object') return 'a section of keys'
  return describeFormat(schema.format) ?? describeText(schema)
}

/**
 * Describes a text setting. Regular expressions are not shown, because few people read them; the description of the
 * setting says what fits.
 */
function describeText ({ minLength, maxLength, pattern, format, description }: TSchema): string {
  if ((pattern !== undefined || format !== undefined) && description !== undefined) {
    return `a text that fits "${description}"`
  }
  if (minLength > 1 && maxLength !== undefined) return `a text of ${minLength} to ${maxLength} characters`
  if (minLength > 1) return `a text of at least ${minLength} characters`
  if (maxLength !== undefined) return `a text of at most ${maxLength} characters`
  return minLength === 1 ? 'a text that is not empty' : 'a text'
}
