export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keywords of plugin settings beyond JSON Schema. */
const OWN_KEYWORDS = new Set(['env', 'folder'])

/** Prefixes our own keywords with `x-` in the document. */
export function markKeywords (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(markKeywords)
  if (!isObject(schema)) return schema
  return Object.fromEntries(Object.entries(schema).map(([key, value]) =>
    [OWN_KEYWORDS.has(key) && !isObject(value) ? `x-${key}` : key, markKeywords(value)]))
}

/** Makes fields with a default optional. */
function makeOptional (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(makeOptional)
  if (!isObject(schema)) return schema
  const { required, properties } = schema
  const fields = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, key === 'default' ? value : makeOptional(value)]))
  if (!Array.isArray(required) || !isObject(properties)) return fields
  const isNeeded = (name: unknown) => {
    const property = properties[String(name)]
    return !isObject(property) || !('default' in property)
  }
  return { ...fields, required: required.filter(isNeeded) }
}

/** True if the name of a field is that of an id. No column holds an id beyond 32 bits. */
export const isId = (field: string) => /(?:^|_)ids?$/.test(field)
const INT32_MAX = 2_147_483_647

/**
 * True if an integer may exceed 32 bits. Clients take an integer without a format for 32 bits, which sizes, times and
 * sums exceed.
 */
function isLong ({ type, format, maximum }: Json, field: string): boolean {
  const isBounded = typeof maximum === 'number' && maximum <= INT32_MAX
  return type === 'integer' && format === undefined && !isBounded && !isId(field)
}

/** Keywords that apply to values of some types only. */
const KEYWORD_TYPES: readonly { types: readonly unknown[], keywords: ReadonlySet<string> }[] = [
  { types: ['integer', 'number'], keywords: new Set(['minimum', 'maximum', 'multipleOf']) },
  { types: ['string'], keywords: new Set(['pattern', 'minLength', 'maxLength', 'format']) },
  { types: ['array'], keywords: new Set(['items', 'minItems', 'maxItems', 'uniqueItems']) },
  { types: ['object'], keywords: new Set(['properties', 'required', 'additionalProperties']) }
]
const typesOf = (keyword: string) => KEYWORD_TYPES.find(({ keywords }) => keywords.has(keyword))?.types

/**
 * Turns a schema with several types into alternatives with one type each, because most client generators know that
 * form.
 */
function splitTypes (schema: Json): Json {
  const { type, ...rest } = schema
  if (!Array.isArray(type)) return schema
  const entries = Object.entries(rest)
  const anyOf = type.map((one: unknown) => ({
    type: one, ...Object.fromEntries(entries.filter(([keyword]) => typesOf(keyword)?.includes(one) === true))
  }))
  return { ...Object.fromEntries(entries.filter(([keyword]) => typesOf(keyword) === undefined)), anyOf }
}

/** Keywords that contain values, not schemas. */
export const VALUE_KEYWORDS = new Set(['default', 'enum', 'const', 'example', 'examples'])

/** Marks integers of 64 bits, and splits schemas with several types. */
export function describeTypes (schema: unknown, field = ''): unknown {
  if (Array.isArray(schema)) return schema.map((one) => describeTypes(one, field))
  if (!isObject(schema)) return schema
  const fields = Object.fromEntries(Object.entries(schema).map(([key, value]) => {
    if (VALUE_KEYWORDS.has(key)) return [key, value]
    if (key !== 'properties' || !isObject(value)) return [key, describeTypes(value, field)]
    return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, describeTypes(one, name)]))]
  }))
  return splitTypes(isLong(fields, field) ? { ...fields, format: 'int64' } : fields)
}

/**
 * Moves the defaults of a body to its descriptions, because client generators take a property with a default for one
 * that is always present.
 */
function explainDefaults (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(explainDefaults)
  if (!isObject(schema)) return schema
  const { default: value, ...rest } = schema
  const fields = Object.fromEntries(Object.entries(rest)
    .map(([key, one]) => [key, VALUE_KEYWORDS.has(key) ? one : explainDefaults(one)]))
  if (value === undefined) return fields
  // A property may be named `default`.
  if (isObject(value)) return { ...fields, default: explainDefaults(value) }
  const note = `Default: ${JSON.stringify(value)}`
  return { ...fields, description: typeof fields.description === 'string' ? `${fields.description}. ${note}` : note }
}

/** Describes a body as callers send it: properties with a default are optional. */
export const describeBody = (schema: unknown): unknown => explainDefaults(makeOptional(schema))

/** Returns an operation's inputs as callers send them, because the server applies the defaults. */
export const withoutDefaults = ({ body, querystring }: { body?: unknown, querystring?: unknown }): Json => ({
  ...(body === undefined ? {} : { body: describeBody(body) }),
  ...(querystring === undefined ? {} : { querystring: makeOptional(querystring) })
})
