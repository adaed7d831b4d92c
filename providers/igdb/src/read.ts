/** An object of an answer, nothing known about its values. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields (value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The objects in a list. Anything else, such as the bare id of a reference that was not expanded, is left out. */
export function toFieldsList (value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}

/** The trimmed text, or undefined when it is empty or no text. */
export function readText (fields: Fields, key: string): string | undefined {
  const value = fields[key]
  return (typeof value === 'string' ? value.trim() : '') || undefined
}

export function readNumber (fields: Fields, key: string): number | undefined {
  const value = fields[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

export function readInteger (fields: Fields, key: string): number | undefined {
  const value = fields[key]
  return Number.isSafeInteger(value) ? Number(value) : undefined
}

export function readFields (fields: Fields, key: string): Fields | undefined {
  const value = fields[key]
  return isFields(value) ? value : undefined
}

/** The different names of the objects listed under a key, in their order. */
export function readNames (fields: Fields, key: string): string[] {
  return unique(toFieldsList(fields[key]).map((entry) => readText(entry, 'name')))
}

/** The different values that are there, in their order. */
export function unique (values: readonly (string | undefined)[]): string[] {
  return [...new Set(values.filter((value) => value !== undefined))]
}
