import { isDeepStrictEqual } from 'node:util'
import { type Json, VALUE_KEYWORDS, isObject } from './keywords.ts'

const SCHEMA_KEYWORDS = ['type', 'anyOf', 'allOf', 'oneOf']

/** Returns the name that a schema gives itself. */
const titleOf = (value: Json): string | null =>
  typeof value.title === 'string' && SCHEMA_KEYWORDS.some((keyword) => keyword in value) ? value.title : null

const hasFields = ({ properties }: Json) => isObject(properties) && Object.keys(properties).length > 1

/** Returns `most_played` and `MOST_PLAYED` as `MostPlayed`. */
const toPascal = (field: string) => field.split(/[^A-Za-z0-9]+/)
  .map((word) => word.charAt(0).toUpperCase() + (/[a-z]/.test(word) ? word.slice(1) : word.slice(1).toLowerCase())).join('')

/** Returns the name of a nested schema: its owner and the field, in the owner's spelling. */
const join = (owner: string, field: string) => /^[a-z]/.test(owner) ? `${owner}_${field}` : owner + toPascal(field)

const toSingular = (plural: string) => plural.replace(/([^s])s$/, '$1')

/**
 * Moves each schema with a `title` to the components, under that name, and replaces it by a reference, because
 * generated clients then have named types. A nested object of several fields is named after its owner and the field,
 * unless an equal schema already has a name. Of different schemas with one name, as plugins may add them, the later
 * ones get a number.
 *
 * @param components the schemas that are already components
 */
export function nameSchemas (paths: Json, components: Json): { paths: Json, schemas: Json } {
  const schemas: Record<string, unknown> = {}
  const names = new Map<string, string>()

  function isTaken (name: string, schema: unknown): boolean {
    const knownName = schemas[name] ?? components[name]
    return knownName !== undefined && !isDeepStrictEqual(knownName, schema)
  }

  /** @returns the name of the component */
  function addComponent (name: string, schema: unknown): string {
    let free = name
    for (let number = 2; isTaken(free, schema); number++) free = `${name}_${number}`
    registerComponent(free, schema)
    return free
  }

  function registerComponent (name: string, schema: unknown): void {
    schemas[name] = schema
    const text = JSON.stringify(schema)
    if (!names.has(text)) names.set(text, name)
  }

  const readFields = (fields: Json, owner: string | null): Json => Object.fromEntries(Object.entries(fields)
    .map(([field, schema]) => [field, read(schema, owner === null ? null : join(owner, field))]))

  function readKeyword (keyword: string, value: unknown, owner: string | null): unknown {
    if (VALUE_KEYWORDS.has(keyword)) return value
    if (keyword === 'properties' && isObject(value)) return readFields(value, owner)
    return read(value, keyword === 'items' && owner !== null ? toSingular(owner) : owner)
  }

  const readInside = (object: Json, owner: string | null): Json => Object.fromEntries(Object.entries(object)
    .map(([keyword, value]) => [keyword, readKeyword(keyword, value, owner)]))

  /** @param owner the name for a schema that has none of its own */
  function read (value: unknown, owner: string | null): unknown {
    if (Array.isArray(value)) return value.map((each) => read(each, owner))
    if (!isObject(value)) return value
    const title = titleOf(value)
    const name = title ?? (hasFields(value) ? owner : null)
    const schema = readInside(value, title ?? owner)
    if (name === null) return schema
    const knownName = title === null ? names.get(JSON.stringify(schema)) : undefined
    return { $ref: `#/components/schemas/${knownName ?? addComponent(name, schema)}` }
  }

  for (const [name, schema] of Object.entries(components)) {
    registerComponent(name, isObject(schema) ? readInside(schema, name) : schema)
  }
  return { paths: readInside(paths, null), schemas }
}
