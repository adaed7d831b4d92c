type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What plugins say of their settings beyond JSON Schema. */
const OWN_KEYWORDS = new Set(['env', 'folder'])

/** Keywords that are no one's but ours begin with `x-` in the document. */
export function markKeywords (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(markKeywords)
  if (!isObject(schema)) return schema
  return Object.fromEntries(Object.entries(schema).map(([key, value]) =>
    [OWN_KEYWORDS.has(key) && !isObject(value) ? `x-${key}` : key, markKeywords(value)]))
}

/** What has a default need not be sent. */
function makeOptional (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(makeOptional)
  if (!isObject(schema)) return schema
  const { required, properties } = schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, key === 'default' ? value : makeOptional(value)]))
  if (!Array.isArray(required) || !isObject(properties)) return inner
  const isNeeded = (name: unknown) => {
    const property = properties[String(name)]
    return !isObject(property) || !('default' in property)
  }
  return { ...inner, required: required.filter(isNeeded) }
}

/** Whether a field is named as an id. No column holds an id beyond 32 bits. */
export const isId = (field: string) => /(?:^|_)ids?$/.test(field)
const INT32_MAX = 2_147_483_647

/** Clients take an integer without a format for one of 32 bits, which sizes, times and sums exceed. */
function isLong ({ type, format, maximum }: Json, field: string): boolean {
  const isBounded = typeof maximum === 'number' && maximum <= INT32_MAX
  return type === 'integer' && format === undefined && !isBounded && !isId(field)
}

/** Keywords that say something of values of some types only. */
const KEYWORD_TYPES: readonly { types: readonly unknown[], keywords: ReadonlySet<string> }[] = [
  { types: ['integer', 'number'], keywords: new Set(['minimum', 'maximum', 'multipleOf']) },
  { types: ['string'], keywords: new Set(['pattern', 'minLength', 'maxLength', 'format']) },
  { types: ['array'], keywords: new Set(['items', 'minItems', 'maxItems', 'uniqueItems']) },
  { types: ['object'], keywords: new Set(['properties', 'required', 'additionalProperties']) }
]
const typesOf = (keyword: string) => KEYWORD_TYPES.find(({ keywords }) => keywords.has(keyword))?.types

/** A schema with several types as one of several schemas, since generators of clients know that form best. */
function splitTypes (schema: Json): Json {
  const { type, ...rest } = schema
  if (!Array.isArray(type)) return schema
  const entries = Object.entries(rest)
  const anyOf = type.map((one: unknown) => ({
    type: one, ...Object.fromEntries(entries.filter(([keyword]) => typesOf(keyword)?.includes(one) === true))
  }))
  return { ...Object.fromEntries(entries.filter(([keyword]) => typesOf(keyword) === undefined)), anyOf }
}

/** Keywords that hold values, not schemas. */
const VALUES = new Set(['default', 'enum', 'const', 'example', 'examples'])

/** Says which integers take 64 bits, and gives schemas with several types one form. */
export function describeTypes (schema: unknown, field = ''): unknown {
  if (Array.isArray(schema)) return schema.map((one) => describeTypes(one, field))
  if (!isObject(schema)) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => {
    if (VALUES.has(key)) return [key, value]
    if (key !== 'properties' || !isObject(value)) return [key, describeTypes(value, field)]
    return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, describeTypes(one, name)]))]
  }))
  return splitTypes(isLong(inner, field) ? { ...inner, format: 'int64' } : inner)
}

/**
 * A body whose defaults stand in its descriptions: generators of clients take a property with a default for one that is
 * always there.
 */
function explainDefaults (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(explainDefaults)
  if (!isObject(schema)) return schema
  const { default: value, ...rest } = schema
  const inner = Object.fromEntries(Object.entries(rest)
    .map(([key, one]) => [key, VALUES.has(key) ? one : explainDefaults(one)]))
  if (value === undefined) return inner
  // A property may be named so.
  if (isObject(value)) return { ...inner, default: explainDefaults(value) }
  const note = `Default: ${JSON.stringify(value)}`
  return { ...inner, description: typeof inner.description === 'string' ? `${inner.description}. ${note}` : note }
}

/** What callers send: properties with a default are optional. */
export const describeBody = (schema: unknown): unknown => explainDefaults(makeOptional(schema))

/** An operation's inputs as its callers see them: the server fills defaults in. */
export const takeDefaults = ({ body, querystring }: { body?: unknown, querystring?: unknown }): Json => ({
  ...(body === undefined ? {} : { body: describeBody(body) }),
  ...(querystring === undefined ? {} : { querystring: makeOptional(querystring) })
})
