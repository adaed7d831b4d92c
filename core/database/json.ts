/** What JSON text can hold and PostgreSQL cannot: NUL, and halves of surrogate pairs. */
const SUSPECT = /\\u(?:0000|d[89a-f])/i

const cleanText = (text: string) => text.replaceAll('\0', '').toWellFormed()

function clean (value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key), clean(inner)]))
}

/** JSON that a `jsonb` column takes, whatever the names and texts in it hold. */
export function toDatabaseJson (value: unknown): string {
  const json = JSON.stringify(value)
  return SUSPECT.test(json) ? JSON.stringify(clean(JSON.parse(json))) : json
}

/** A copy that a `jsonb` column takes as it is. */
export function toStorable<T> (value: T): T {
  return JSON.parse(toDatabaseJson(value)) as T
}
