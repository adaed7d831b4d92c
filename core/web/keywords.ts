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
export function makeOptional (schema: unknown): unknown {
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

/** An operation's inputs as its callers see them: the server fills defaults in. */
export const takeDefaults = (inputs: { body?: unknown, querystring?: unknown }): Json => Object.fromEntries(
  (['body', 'querystring'] as const).filter((part) => inputs[part] !== undefined).map((part) => [part, makeOptional(inputs[part])]))
