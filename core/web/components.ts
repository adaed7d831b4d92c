import { isDeepStrictEqual } from 'node:util'

type Json = Readonly<Record<string, unknown>>

/** What holds values, whatever they look like. */
const VALUES = new Set(['default', 'enum', 'const', 'example', 'examples'])
const SCHEMA_KEYWORDS = ['type', 'anyOf', 'allOf', 'oneOf']

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The name of a schema that has one. */
const nameOf = (value: Json): string | null =>
  typeof value.title === 'string' && SCHEMA_KEYWORDS.some((keyword) => keyword in value) ? value.title : null

/**
 * Gives each schema with a `title` a place of its own among the components, under that name, and refers to it wherever
 * it was: clients that are made from the document have types with names then.
 *
 * @param components the schemas that have such a place
 * @throws Error when two schemas that differ have the same title
 */
export function nameSchemas (paths: Json, components: Json): { paths: Json, schemas: Json } {
  const schemas: Record<string, unknown> = {}

  function place (name: string, schema: unknown): void {
    if (name in schemas && !isDeepStrictEqual(schemas[name], schema)) {
      throw new Error(`Two schemas have the title '${name}'; give one of them another`)
    }
    schemas[name] = schema
  }

  function readInside (object: Json): Json {
    return Object.fromEntries(Object.entries(object)
      .map(([key, value]) => [key, VALUES.has(key) ? value : read(value)]))
  }

  function read (value: unknown): unknown {
    if (Array.isArray(value)) return value.map(read)
    if (!isObject(value)) return value
    const whole = readInside(value)
    const name = nameOf(value)
    if (name === null) return whole
    place(name, whole)
    return { $ref: `#/components/schemas/${name}` }
  }

  for (const [name, schema] of Object.entries(components)) place(name, isObject(schema) ? readInside(schema) : schema)
  return { paths: readInside(paths), schemas }
}
