/** A day, month or year. */
export interface PartialDate {
  /** The first moment of the period, in milliseconds since 1970-01-01 UTC. */
  at: number
  precision: 'day' | 'month' | 'year'
}

const ISO = /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:$|[t ])/
const DAY_FIRST = /^(\d{1,2})(?:\.|st|nd|rd|th)? ([a-z]{3,9})\.?,? (\d{4})$/
const MONTH_FIRST = /^([a-z]{3,9})\.?,? (?:(\d{1,2})(?:st|nd|rd|th)?,? )?(\d{4})$/
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * Reads a date in the forms that providers use: `1992`, `1992-11`, `1992-11-21`, with a time behind it, `21 Nov,
 * 1992`, `November 21, 1992`, `Nov 1992`. A month or day of 0 counts as missing. The time of day and its zone are
 * ignored, because a release date is a day.
 *
 * @returns undefined when the text is no date, or not a day of the calendar
 */
export function parseDate (text: string): PartialDate | undefined {
  const line = text.trim().toLowerCase()
  const iso = ISO.exec(line)
  if (iso !== null) return toDate(iso[1], Number(iso[2] ?? 0), Number(iso[3] ?? 0))
  const dayFirst = DAY_FIRST.exec(line)
  if (dayFirst !== null) return toDate(dayFirst[3], monthOf(dayFirst[2]), Number(dayFirst[1]))
  const monthFirst = MONTH_FIRST.exec(line)
  return monthFirst === null ? undefined : toDate(monthFirst[3], monthOf(monthFirst[1]), Number(monthFirst[2] ?? 0))
}

/** Returns the number of a month, from 1; NaN for a word that is no month. */
function monthOf (word = ''): number {
  const index = MONTHS.indexOf(word.slice(0, 3))
  return index === -1 ? Number.NaN : index + 1
}

function toDate (year: string | undefined, month: number, day: number): PartialDate | undefined {
  const precision = month === 0 ? 'year' : day === 0 ? 'month' : 'day'
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Math.max(month, 1) - 1, precision === 'day' ? day : 1)
  const isReal = date.getUTCFullYear() === Number(year) && date.getUTCMonth() === Math.max(month, 1) - 1
  return Number(year) > 0 && isReal ? { at: date.getTime(), precision } : undefined
}
