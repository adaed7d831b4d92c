import { type Fields, isFields, readFields, readInteger, readText, toFieldsList } from '@svc/plugin-sdk/readers'

/**
 * IGDB's numbers of rating categories and organisations. Both count from 1, and the ratings of all organisations form
 * one series. Used when a response holds the bare number instead of texts.
 */
const RATINGS_BY_ORGANIZATION: readonly (readonly [string, readonly string[]])[] = [
  ['ESRB', ['RP', 'EC', 'E', 'E10+', 'T', 'M', 'AO']],
  ['PEGI', ['3', '7', '12', '16', '18']],
  ['CERO', ['A', 'B', 'C', 'D', 'Z']],
  ['USK', ['0', '6', '12', '16', '18']],
  ['GRAC', ['ALL', '12+', '15+', '19+', 'TESTING']],
  ['CLASS_IND', ['L', '10', '12', '14', '16', '18']],
  ['ACB', ['G', 'PG', 'M', 'MA 15+', 'R 18+', 'RC']]
]
const RATINGS = RATINGS_BY_ORGANIZATION
  .flatMap(([category, ratings]) => ratings.map((rating) => ({ category, rating })))

export interface AgeRating {
  /** The rating, such as `E10+`. */
  rating: string
  /** The organisation, such as `ESRB`. */
  category: string
  rating_cover_url: string
}

/** Lists the age ratings of a game; skips unreadable ones. */
export function toAgeRatings (value: unknown): AgeRating[] {
  return toFieldsList(value).map(toAgeRating).filter((rating) => rating !== undefined)
}

function toAgeRating (fields: Fields): AgeRating | undefined {
  const expanded = readFields(fields, 'rating_category')
  const number = expanded === undefined ? readInteger(fields, 'rating_category') : readInteger(expanded, 'id')
  const ratingEntry = number === undefined ? undefined : RATINGS[number - 1]
  const rating = (expanded && readText(expanded, 'rating')) ?? ratingEntry?.rating
  const category = readOrganization(fields.organization) ?? ratingEntry?.category
  if (rating === undefined || category === undefined) return undefined
  return { rating, category, rating_cover_url: iconUrl(category, rating) }
}

function readOrganization (value: unknown): string | undefined {
  if (isFields(value)) return readText(value, 'name')
  return typeof value === 'number' ? RATINGS_BY_ORGANIZATION[value - 1]?.[0] : undefined
}

function iconUrl (category: string, rating: string): string {
  const organization = category.toLowerCase().replace(/[^a-z0-9]+/g, '_')
  const name = rating.toLowerCase().replace(/[^a-z0-9]+/g, '')
  return `https://www.igdb.com/icons/rating_icons/${organization}/${organization}_${name}.png`
}
