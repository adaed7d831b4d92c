/** The forms of a word by the plural rules of a language. */
interface Forms { readonly one?: string, readonly few?: string, readonly many?: string, readonly other: string }

/** Formats of one language, for numbers, sizes, dates and plurals. */
export function createFormat (language: string) {
  const number = new Intl.NumberFormat(language)
  const precise = new Intl.NumberFormat(language, { maximumFractionDigits: 1 })
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 })
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium' })
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' })
  const dateTime = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short' })
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  const plurals = new Intl.PluralRules(language)
  const list = new Intl.ListFormat(language)

  return {
    number: (value: number) => number.format(value),
    /** @param value from 0 to 1 */
    percent: (value: number) => percent.format(value),
    date: (value: string | Date) => date.format(new Date(value)),
    /** Formats a day without a time, such as a release date: midnight in UTC, in milliseconds. */
    day: (value: number) => day.format(value),
    dateTime: (value: string | Date) => dateTime.format(new Date(value)),
    time: (value: string | Date) => time.format(new Date(value)),
    list: (values: readonly string[]) => list.format(values),
    /** Formats a number of bytes with a unit of the binary system. */
    bytes (value: number): string {
      const step = value === 0 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(Math.abs(value)) / 10))
      return `${precise.format(value / 2 ** (10 * step))} ${BYTE_UNITS[step]}`
    },
    /** Formats a time as its distance from now, such as "yesterday". */
    ago (value: string | Date, now = Date.now()): string {
      const seconds = (new Date(value).getTime() - now) / 1_000
      const [unit, length] = UNITS.find(([, length], index) => {
        const [, shorter] = UNITS[index + 1] ?? LAST_UNIT
        return Math.round(Math.abs(seconds) / shorter) * shorter >= length
      }) ?? LAST_UNIT
      return relative.format(Math.round(seconds / length), unit)
    },
    /** Formats a duration, such as "3 h 20 min". */
    duration (seconds: number): string {
      const total = Math.round(seconds / 60)
      const [hours, minutes] = [Math.floor(total / 60), total % 60]
      return [hours === 0 ? '' : `${number.format(hours)} h`, minutes === 0 && hours > 0 ? '' : `${minutes} min`].filter(Boolean).join(' ')
    },
    /** Chooses the form of a word for a number; `#` stands for the number. */
    plural (value: number, forms: Forms): string {
      const rule = plurals.select(value)
      const form = (rule === 'one' || rule === 'few' || rule === 'many' ? forms[rule] : undefined) ?? forms.other
      return form.replace('#', number.format(value))
    }
  }
}
export type Format = ReturnType<typeof createFormat>

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
const LAST_UNIT = ['second', 1] as const
const UNITS = [
  ['year', 31_557_600], ['month', 2_629_800], ['week', 604_800], ['day', 86_400], ['hour', 3_600], ['minute', 60]
] as const
