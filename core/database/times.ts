import { invalid } from '../errors.ts'

const TIME = /^(\d{4}-\d{2}-(\d{2}))[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?([Zz]|[+-]\d{2}:?\d{2})?$/

/** The database cannot read the form that JavaScript gives to years of five digits. */
const YEAR_10000 = Date.UTC(10_000)

/**
 * Parses a time in ISO 8601, as UTC if it has no offset; returns null for anything else, and for times before 1970 or
 * after 9999 in UTC.
 */
export function readTime (text: string): Date | null {
  const [, date, day, time, offset = 'Z'] = TIME.exec(text) ?? []
  if (date === undefined || new Date(`${date}T00:00:00Z`).getUTCDate() !== Number(day)) return null
  const zone = offset.toUpperCase().replace(/^(...)(\d\d)$/, '$1:$2')
  const read = new Date(`${date}T${time}${zone}`)
  return read.getTime() >= 0 && read.getTime() < YEAR_10000 ? read : null
}

/**
 * Parses a time as `readTime` does. @param loc the place of the text in the request @throws ApiError INVALID for
 * anything else
 */
export function requireTime (text: string, loc: (string | number)[]): Date {
  const time = readTime(text)
  if (time === null) throw invalid(loc, 'Must be a time of the years 1970 to 9999 in ISO 8601, such as 2026-01-31T20:15:00Z', text)
  return time
}
