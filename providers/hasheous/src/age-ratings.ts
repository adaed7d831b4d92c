import { type GameFields, strictestAge } from '@svc/plugin-sdk'
import { type Fields, readFields, readInteger, readText, toFieldsList, unique } from '@svc/plugin-sdk/readers'

/**
 * IGDB's organisations and rating categories. Both count from 1, and the ratings of all organisations form one
 * series.
 */
const RATINGS_BY_BOARD: readonly (readonly [string, readonly string[]])[] = [
  ['ESRB', ['RP', 'EC', 'E', 'E10+', 'T', 'M', 'AO']],
  ['PEGI', ['3', '7', '12', '16', '18']],
  ['CERO', ['A', 'B', 'C', 'D', 'Z']],
  ['USK', ['0', '6', '12', '16', '18']],
  ['GRAC', ['ALL', '12+', '15+', '19+', 'TESTING']],
  ['CLASS_IND', ['L', '10', '12', '14', '16', '18']],
  ['ACB', ['G', 'PG', 'M', 'MA 15+', 'R 18+', 'RC']]
]
const RATINGS = RATINGS_BY_BOARD.flatMap(([board, ratings]) => ratings.map((rating) => ({ board, rating })))

/** Returns the age ratings of an IGDB record, and the strictest of them in years. */
export function toAgeRatings (value: unknown): Pick<GameFields, 'age_ratings' | 'min_age'> {
  const ratings = toFieldsList(value).map(readAgeRating)
  return { age_ratings: unique(ratings.map(({ rating }) => rating)), min_age: strictestAge(ratings) }
}

function readAgeRating (fields: Fields): { board?: string | undefined, rating?: string | undefined } {
  const category = readFields(fields, 'rating_category')
  const number = category === undefined ? readInteger(fields, 'rating_category') : readInteger(category, 'id')
  const known = number === undefined ? undefined : RATINGS[number - 1]
  return {
    board: readBoard(fields) ?? known?.board,
    rating: category === undefined ? known?.rating : readText(category, 'rating')
  }
}

function readBoard (fields: Fields): string | undefined {
  const organization = readFields(fields, 'organization')
  if (organization !== undefined) return readText(organization, 'name')
  return RATINGS_BY_BOARD[(readInteger(fields, 'organization') ?? 0) - 1]?.[0]
}
