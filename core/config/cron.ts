import { createHash } from 'node:crypto'

interface Field { min: number, max: number, names?: string, extraPattern?: RegExp }

/** Minute, hour, day of the month, month and weekday, in the order of a cron line. */
const FIELDS: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  // L is the last day of the month.
  { min: 1, max: 31, extraPattern: /^L$/ },
  { min: 1, max: 12, names: 'jan feb mar apr may jun jul aug sep oct nov dec' },
  // 5L is the last Friday of the month, 5#2 the second one.
  { min: 0, max: 7, names: 'sun mon tue wed thu fri sat', extraPattern: /^[0-7](?:L|#[1-5])$/ }
]

function readNumber (text: string, { min, max, names }: Field): number | null {
  const named = names === undefined ? -1 : names.split(' ').indexOf(text.toLowerCase())
  if (named >= 0) return named + min
  const number = /^\d{1,2}$/.test(text) ? Number(text) : -1
  return number >= min && number <= max ? number : null
}

/** True for one item of a list: `*`, `5`, `mon-fri`, `H`, `H(0-29)`, each with an optional step such as `/15`. */
function isItem (item: string, field: Field): boolean {
  if (field.extraPattern?.test(item) === true) return true
  const [base = '', step, ...rest] = item.split('/')
  if (rest.length > 0 || (step !== undefined && !/^0*[1-9]\d?$/.test(step))) return false
  if (base === '*' || base === '?' || base === 'H') return true
  const [from, to, ...more] = (/^H\((.+)\)$/.exec(base)?.[1] ?? base).split('-').map((text) => readNumber(text, field))
  return more.length === 0 && from !== undefined && from !== null && to !== null && (to === undefined || from <= to)
}

/** True for the items of one field. The scheduler takes no others beside `5#2`. */
function isField (text: string, field: Field): boolean {
  const items = text.split(',')
  return items.every((item) => isItem(item, field)) && (items.length === 1 || !text.includes('#'))
}

/** The most days of each month. */
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** True if one of the days is in one of the months. */
function isInYear (days: ReadonlySet<number> | null, months: ReadonlySet<number> | null): boolean {
  if (days === null || months === null) return true
  const longest = Math.max(...[...months].map((month) => MONTH_DAYS[month - 1] ?? 0))
  return Math.min(...days) <= longest
}

/** True if a text is a cron line of five fields, as the scheduler reads it. */
export function isCron (text: string): boolean {
  const fields = text.trim().split(/\s+/)
  if (fields.length !== FIELDS.length || !FIELDS.every((field, index) => isField(fields[index] ?? '', field))) return false
  const [days, months] = [2, 3].map((index) => listValues(fields[index] ?? '', FIELDS[index]))
  return isInYear(days ?? null, months ?? null)
}

/** Returns the values of a field; null if they depend on the month or on `H`. */
function listValues (text: string, field: Field | undefined): Set<number> | null {
  if (field === undefined) return null
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const [base = '', step] = item.split('/')
    const [first, last] = base === '*' || base === '?' ? [String(field.min), String(field.max)] : base.split('-')
    const from = readNumber(first ?? '', field)
    if (from === null) return null
    const to = last === undefined ? step === undefined ? from : field.max : readNumber(last, field) ?? from
    // Sunday is 0 and 7.
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(field.max === 7 ? value % 7 : value)
  }
  return values
}

/** `H`, `H(0-29)` or `H/15`. */
const H = /\bH(?:\(([^)]+)\))?(?:\/(\d+))?/g

/** Returns the first and last value that `H` may choose: no day that some month lacks, and Sunday only once. */
function readRange (range: string | undefined, field: Field): [number, number] {
  const { min, max } = field
  const [from, to] = range?.split('-').map((text) => readNumber(text, field) ?? min) ?? []
  if (from === undefined) return [min, max === 31 ? 28 : max === 7 ? 6 : max]
  return [from, to ?? from]
}

/** Writes a list by its values, because the scheduler refuses one in which a value is there twice, such as `1-5,3`. */
function mergeItems (text: string, field: Field | undefined): string {
  const items = new Set(text.split(','))
  if (items.size === 1) return [...items].join()
  const values = [...items].map((item) => listValues(item, field))
  const known = values.flatMap((set) => [...set ?? []])
  const distinct = new Set(known)
  if (distinct.size === known.length) return [...items].join()
  const others = [...items].filter((_item, index) => values[index] === null)
  return [...[...distinct].sort((one, other) => one - other), ...others].join()
}

/**
 * Returns a cron line as the scheduler takes it: each list without a value that is there twice, and each `H` replaced
 * by a time that depends on the seed only, as Jenkins does: `H/15` by `7-59/15`.
 */
export function fixTimes (cron: string, seed: string): string {
  const fix = (text: string, index: number) => text.replace(H, (found, range?: string, step?: string) => {
    const field = FIELDS[index]
    if (field === undefined) return found
    const [from, to] = readRange(range, field)
    const hash = createHash('sha256').update(`${seed} ${index}`).digest().readUInt32BE()
    const width = to - from + 1
    return step === undefined ? String(from + hash % width) : `${from + hash % Math.min(Number(step), width)}-${to}/${step}`
  })
  return cron.trim().split(/\s+/).map((text, index) => mergeItems(fix(text, index), FIELDS[index])).join(' ')
}
