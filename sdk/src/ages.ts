type Board = (rating: string) => number | undefined

/** The highest age anybody rates for. */
const AGE_MAX = 21

const letters = (ages: Readonly<Record<string, number>>): Board => {
  const byRating = new Map(Object.entries(ages))
  return (rating) => byRating.get(rating)
}

/** The rating is the age, with or without letters around it; `L` and `ALL` are for everybody. */
const numbers: Board = (rating) => {
  if (rating === 'L' || rating === 'ALL') return 0
  const digits = /\d+/.exec(rating)?.[0]
  return digits === undefined ? undefined : Number(digits)
}

const ACB = letters({ G: 0, PG: 8, M: 15, MA15: 15, R18: 18, X18: 18, RC: 18 })

/** Boards by their names, and their ratings, in capitals without spaces and signs. */
const BOARDS: ReadonlyMap<string, Board> = new Map([
  ['ESRB', letters({ EC: 3, E: 6, KA: 6, E10: 10, T: 13, M: 17, AO: 18 })],
  ['CERO', letters({ A: 0, B: 12, C: 15, D: 17, Z: 18 })],
  ['ACB', ACB],
  ['OFLC', ACB],
  ['BBFC', letters({ U: 0, PG: 8, 12: 12, '12A': 12, 15: 15, 18: 18, R18: 18 })],
  ...['PEGI', 'USK', 'GRAC', 'KGRB', 'CLASSIND', 'DJCTQ', 'DEJUS', 'SS', 'ELSPA', 'JV'].map((board) => [board, numbers] as const)
])

const toWord = (text: string) => text.toUpperCase().replaceAll(/[^A-Z\d]+/g, '')

/**
 * The age from which a rating allows a game: `minimumAge('ESRB', 'E10+')` is 10. Undefined for a board or a rating
 * that says no age, such as one that is pending.
 */
export function minimumAge (board: string, rating: string): number | undefined {
  const age = BOARDS.get(toWord(board))?.(toWord(rating))
  return age === undefined || age > AGE_MAX ? undefined : age
}

/** The highest of the ages that ratings say; undefined when none says one. */
export function strictestAge (
  ratings: readonly { readonly board?: string | undefined, readonly rating?: string | undefined }[]
): number | undefined {
  const ages = ratings.flatMap(({ board = '', rating = '' }) => minimumAge(board, rating) ?? [])
  return ages.length === 0 ? undefined : Math.max(...ages)
}
