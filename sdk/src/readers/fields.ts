import { type PartialDate, parseDate } from './dates.ts'
import { toPlainText } from './text.ts'

/** An object from an external response, with values of unknown type. */
export type Fields = Readonly<Record<string, unknown>>

/** True for an object that is no list and not null. */
export function isFields (value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses JSON; returns undefined when the text is not JSON. */
export function parseJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the objects in a list, or in an object keyed by their ids; skips anything else. */
export function toFieldsList (value: unknown): Fields[] {
  if (Array.isArray(value)) return value.filter(isFields)
  return isFields(value) ? Object.values(value).filter(isFields) : []
}

/** Returns the trimmed text, or undefined when the value is empty or not a text. */
export function readText (fields: Fields, key: string): string | undefined {
  const value = fields[key]
  return (typeof value === 'string' ? value.trim() : '') || undefined
}

/** Returns the number, or undefined when the value is not a finite number. */
export function readNumber (fields: Fields, key: string): number | undefined {
  const value = fields[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Returns the integer, or undefined. */
export function readInteger (fields: Fields, key: string): number | undefined {
  const value = fields[key]
  return Number.isSafeInteger(value) ? Number(value) : undefined
}

/** Returns the number, also one written as text, such as `"8.25"`; undefined otherwise. */
export function readNumeric (fields: Fields, key: string): number | undefined {
  const value = fields[key]
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Returns a rating out of `best` as 0 to 100 with at most four decimals; zero counts as not rated. */
export function readRating (fields: Fields, key: string, best: number): number | undefined {
  const value = readNumeric(fields, key)
  return value === undefined || value <= 0 || value > best ? undefined : Math.round(value / best * 1_000_000) / 10_000
}

/** Returns a web address; undefined otherwise. An address without a scheme (`//host/path`) gets `https`. */
export function readUrl (fields: Fields, key: string): string | undefined {
  const text = readText(fields, key) ?? ''
  const url = text.startsWith('//') ? `https:${text}` : text
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined
}

/** Returns the day, month or year under a key; see `parseDate`. */
export function readDate (fields: Fields, key: string): PartialDate | undefined {
  return parseDate(readText(fields, key) ?? '')
}

/** Converts the HTML under a key to text; undefined when there is none. */
export function readHtml (fields: Fields, key: string): string | undefined {
  return toPlainText(readText(fields, key) ?? '') || undefined
}

/** Returns the distinct texts listed under a key, in their order. */
export function readTexts (fields: Fields, key: string): string[] {
  const value = fields[key]
  const texts = Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
  return unique(texts.map((text) => text.trim() || undefined))
}

/** Returns an integer above zero, also one written as text; undefined otherwise. */
export function readId (fields: Fields, key: string): number | undefined {
  const value = fields[key]
  const id = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(id) && Number(id) > 0 ? Number(id) : undefined
}

/** Returns the object under a key, or undefined. */
export function readFields (fields: Fields, key: string): Fields | undefined {
  const value = fields[key]
  return isFields(value) ? value : undefined
}

/** Returns the distinct names (`name`) of the objects listed under a key, in their order. */
export function readNames (fields: Fields, key: string): string[] {
  return unique(toFieldsList(fields[key]).map((entry) => readText(entry, 'name')))
}

/** Returns a copy of a record without undefined values and empty lists. */
export function withoutEmpty<Record extends object> (record: Record): Partial<Record> {
  const isEmpty = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(record).filter(([, value]) => !isEmpty(value))) as Partial<Record>
}

/** Returns the distinct defined values, in their order. */
export function unique (values: readonly (string | undefined)[]): string[] {
  return [...new Set(values.filter((value) => value !== undefined))]
}
