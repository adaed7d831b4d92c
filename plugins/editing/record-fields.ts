import type { GameFields } from '@svc/plugin-sdk'

/** Keys of word lists in the records of most providers. */
const LISTS = {
  genres: 'genres',
  franchises: 'franchises',
  collections: 'collections',
  companies: 'companies',
  game_modes: 'game_modes',
  age_ratings: 'age_ratings',
  alternative_names: 'alternative_names',
  alternate_titles: 'alternative_names'
} as const
/** Factors that convert the ratings of providers to 0 to 100. */
const RATINGS = { total_rating: 1, moby_score: 10, ss_score: 10, community_rating: 20, rating: 100 } as const
const RATING_MAX = 100
const MS_PER_SECOND = 1_000
/** The time format of a gamelist, `19940319T000000`, in UTC. */
const COMPACT_TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)$/

type RawRecord = Readonly<Record<string, unknown>>

const keysOf = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[]

/** Reads words, or objects with a name or rating. */
function readWords (value: unknown): string[] {
  const words = Array.isArray(value) ? value.map((one: unknown) => toWord(one)) : []
  return words.filter((word) => word !== '')
}

function toWord (value: unknown): string {
  if (typeof value === 'string') return value.trim()
  if (typeof value !== 'object' || value === null) return ''
  const { name, rating } = value as { name?: unknown, rating?: unknown }
  return [name, rating].find((word) => typeof word === 'string')?.trim() ?? ''
}

function readNumber (value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

/** Reads seconds since 1970, as a number or text, or the time of a gamelist. */
function readDate (value: unknown): number | null {
  const compact = typeof value === 'string' ? COMPACT_TIME.exec(value) : null
  if (compact !== null) {
    const [year = 0, month = 1, day = 1, hours = 0, minutes = 0, seconds = 0] = compact.slice(1).map(Number)
    return Date.UTC(year, month - 1, day, hours, minutes, seconds)
  }
  const seconds = readNumber(value)
  return seconds === null || !Number.isSafeInteger(seconds * MS_PER_SECOND) ? null : seconds * MS_PER_SECOND
}

function readRating (record: RawRecord): number | null {
  const key = keysOf(RATINGS).find((name) => name in record)
  const rating = key === undefined ? null : readNumber(record[key])
  return key === undefined || rating === null ? null : Math.min(RATING_MAX, Math.max(0, rating * RATINGS[key]))
}

const readText = (value: unknown): string => typeof value === 'string' ? value.trim() : ''

/** Reads the fields of a game from a provider's record that a person wrote, in all known record shapes. */
export function readRecordFields (record: RawRecord): Partial<GameFields> {
  const fields: Partial<GameFields> = {}
  for (const key of keysOf(LISTS)) if (key in record) fields[LISTS[key]] = readWords(record[key])
  if ('player_count' in record) fields.player_count = readText(record.player_count)
  if ('youtube_video_id' in record) fields.youtube_video_id = readText(record.youtube_video_id)
  const date = readDate(record.first_release_date)
  if (date !== null) fields.first_release_date = date
  const rating = readRating(record)
  if (rating !== null) fields.average_rating = rating
  return fields
}
