/** Called with the name of a column whose value is not understood; the value then counts as absent. */
export type OnOdd = (column: string) => void

/** A row whose values are read by type. */
export interface Values<Column extends string> {
  /** Returns a text; null for NULL and for `''`, which RomM writes for "none". */
  text (column: Column): string | null
  /** Returns a name as RomM's enums have it, in lower case. */
  word (column: Column): string | null
  flag (column: Column): boolean
  integer (column: Column): number | null
  /** Returns ISO 8601 in UTC, with the fraction of a second if there is one. */
  time (column: Column): string | null
  json (column: Column): unknown
  object (column: Column): Record<string, unknown> | null
  texts (column: Column): string[]
}

/**
 * Reads the values of a row. PostgreSQL prints booleans as `t`, MariaDB as `1`; MariaDB stores JSON as text, which can
 * be anything.
 */
export function readValues<Column extends string> (
  row: Readonly<Record<Column, string | null>>, onOdd: OnOdd
): Values<Column> {
  function parse<T> (column: Column, read: (text: string) => T | undefined): T | null {
    const text = row[column]
    if (text === null || text === '') return null
    const value = read(text)
    if (value !== undefined) return value
    onOdd(column)
    return null
  }
  const json = (column: Column): unknown => parse(column, parseJson)
  return {
    text: (column) => parse(column, (text) => text.includes('\0') ? undefined : text.toWellFormed()),
    word: (column) => parse(column, (text) => /^\w{1,100}$/.test(text) ? text.toLowerCase() : undefined),
    flag: (column) => parse(column, parseFlag) ?? false,
    integer: (column) => parse(column, parseInteger),
    time: (column) => parse(column, parseTime),
    json,
    object: (column) => {
      const value = json(column)
      if (value === null || isObject(value)) return value
      onOdd(column)
      return null
    },
    texts: (column) => {
      const value = json(column)
      const items: unknown[] = Array.isArray(value) ? value : []
      return items.filter((item) => typeof item === 'string' && item !== '') as string[]
    }
  }
}

export function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseFlag (text: string): boolean | undefined {
  if (['t', 'true', '1'].includes(text.toLowerCase())) return true
  return ['f', 'false', '0'].includes(text.toLowerCase()) ? false : undefined
}

function parseInteger (text: string): number | undefined {
  const number = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
}

/** Returns null for JSON's own `null`, and undefined for text that is no JSON. */
function parseJson (text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\s*(Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?$/

/** Reads the time of a database, in UTC unless it has an offset. MySQL's `0000-00-00` is no time. */
export function parseTime (text: string): string | undefined {
  const [, day = '', clock = '', fraction, zone = 'Z'] = TIME.exec(text) ?? []
  const time = new Date(`${day}T${clock}Z`).getTime() - parseOffset(zone)
  if (Number.isNaN(time)) return undefined
  const iso = new Date(time).toISOString().slice(0, 19)
  if (parseOffset(zone) === 0 && iso !== `${day}T${clock}`) return undefined
  // Databases print different numbers of digits for the same time.
  const digits = fraction?.replace(/0+$/, '') ?? ''
  return digits === '' ? `${iso}Z` : `${iso}.${digits}Z`
}

/** Returns the milliseconds of an offset such as `+05:30` or `-03`. */
function parseOffset (zone: string): number {
  if (zone === 'Z') return 0
  const [hours = 0, minutes = 0, seconds = 0] = (zone.slice(1).replaceAll(':', '').match(/\d\d/g) ?? []).map(Number)
  const offset = (hours * 3600 + minutes * 60 + seconds) * 1000
  return zone.startsWith('-') ? -offset : offset
}
