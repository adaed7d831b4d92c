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

/** True if a text is a cron line of five fields, as the scheduler reads it. */
export function isCron (text: string): boolean {
  const fields = text.trim().split(/\s+/)
  return fields.length === FIELDS.length && FIELDS.every((field, index) =>
    fields[index]?.split(',').every((item) => isItem(item, field)))
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

/**
 * Replaces each `H` of a cron line by a time that depends on the seed only, as Jenkins does: `H/15` by `7-59/15`. An
 * item that is then in a list twice is left out, because the scheduler would refuse the line: `H,30` may become `30`.
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
  return cron.trim().split(/\s+/).map((text, index) => {
    const fixed = fix(text, index)
    return fixed === text ? text : [...new Set(fixed.split(','))].join(',')
  }).join(' ')
}
