import { isDeepStrictEqual } from 'node:util'

type Json = Readonly<Record<string, unknown>>

/** What holds values, whatever they look like. */
const VALUES = new Set(['default', 'enum', 'const', 'example', 'examples'])
const SCHEMA_KEYWORDS = ['type', 'anyOf', 'allOf', 'oneOf']

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The name that a schema gives itself. */
const titleOf = (value: Json): string | null =>
  typeof value.title === 'string' && SCHEMA_KEYWORDS.some((keyword) => keyword in value) ? value.title : null

const hasFields = ({ properties }: Json) => isObject(properties) && Object.keys(properties).length > 1

/** `most_played` and `MOST_PLAYED` as `MostPlayed`. */
const toPascal = (field: string) => field.split(/[^A-Za-z0-9]+/)
  .map((word) => word.charAt(0).toUpperCase() + (/[a-z]/.test(word) ? word.slice(1) : word.slice(1).toLowerCase())).join('')

/** What is inside of a schema is called after it and the field, in the spelling of its name. */
const join = (owner: string, field: string) => /^[a-z]/.test(owner) ? `${owner}_${field}` : owner + toPascal(field)

const oneOf = (plural: string) => plural.replace(/([^s])s$/, '$1')

/**
 * Gives each schema with a `title` a place of its own among the components, under that name, and refers to it wherever
 * it was: clients that are made from the document have types with names then. An object of several fields inside of
 * such a schema is called after the schema and the field that holds it, unless one that is the same has a name already.
 * Of schemas that differ and have the same name, as plugins may bring them, the later ones get a number.
 *
 * @param components the schemas that have such a place
 */
export function nameSchemas (paths: Json, components: Json): { paths: Json, schemas: Json } {
  const schemas: Record<string, unknown> = {}
  const names = new Map<string, string>()

  function isTaken (name: string, schema: unknown): boolean {
    const known = schemas[name] ?? components[name]
    return known !== undefined && !isDeepStrictEqual(known, schema)
  }

  /** @returns the name that it got */
  function addComponent (name: string, schema: unknown): string {
    let free = name
    for (let number = 2; isTaken(free, schema); number++) free = `${name}_${number}`
    keep(free, schema)
    return free
  }

  function keep (name: string, schema: unknown): void {
    schemas[name] = schema
    const text = JSON.stringify(schema)
    if (!names.has(text)) names.set(text, name)
  }

  const readFields = (fields: Json, owner: string | null): Json => Object.fromEntries(Object.entries(fields)
    .map(([field, schema]) => [field, read(schema, owner === null ? null : join(owner, field))]))

  function readKeyword (keyword: string, value: unknown, owner: string | null): unknown {
    if (VALUES.has(keyword)) return value
    if (keyword === 'properties' && isObject(value)) return readFields(value, owner)
    return read(value, keyword === 'items' && owner !== null ? oneOf(owner) : owner)
  }

  const readInside = (object: Json, owner: string | null): Json => Object.fromEntries(Object.entries(object)
    .map(([keyword, value]) => [keyword, readKeyword(keyword, value, owner)]))

  /** @param owner what a schema is called here that has no name of its own */
  function read (value: unknown, owner: string | null): unknown {
    if (Array.isArray(value)) return value.map((each) => read(each, owner))
    if (!isObject(value)) return value
    const title = titleOf(value)
    const name = title ?? (hasFields(value) ? owner : null)
    const whole = readInside(value, title ?? owner)
    if (name === null) return whole
    const known = title === null ? names.get(JSON.stringify(whole)) : undefined
    return { $ref: `#/components/schemas/${known ?? addComponent(name, whole)}` }
  }

  for (const [name, schema] of Object.entries(components)) {
    keep(name, isObject(schema) ? readInside(schema, name) : schema)
  }
  return { paths: readInside(paths, null), schemas }
}
