/** Characters that JSON text may contain but PostgreSQL refuses: NUL, and halves of surrogate pairs. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i

const cleanText = (text: string) => text.replaceAll('\0', '').toWellFormed()

function clean (value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key), clean(inner)]))
}

/** Returns JSON that a `jsonb` column accepts, whatever names and texts the value contains. */
export function toDatabaseJson (value: unknown): string {
  const json = JSON.stringify(value)
  return UNSTORABLE.test(json) ? JSON.stringify(clean(JSON.parse(json))) : json
}

/** Returns a copy that a `jsonb` column stores without changes. */
export function toStorable<T> (value: T): T {
  return JSON.parse(toDatabaseJson(value)) as T
}
