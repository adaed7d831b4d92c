/** @param word the rating in capitals, without spaces and signs; `written` is the rating as the provider wrote it */
type RatingBoard = (word: string, written: string) => number | undefined

/** The highest age that any board uses. */
const AGE_MAX = 21

const lettersBoard = (ages: Readonly<Record<string, number>>): RatingBoard => {
  const byRating = new Map(Object.entries(ages))
  return (word) => byRating.get(word)
}

/** Ages of ratings without a number, at boards that otherwise rate by numbers. */
const WORDS = lettersBoard({ L: 0, ALL: 0, G: 0, GA: 0, TP: 0, ATP: 0, AD: 18, M: 18, R: 18, RED: 18 })

/**
 * Reads a rating that is an age, with or without letters around it, or a word. A range such as `7-9` yields its first
 * age.
 */
const numbersBoard: RatingBoard = (word, written) => {
  const digits = /\d+/.exec(written)?.[0]
  return digits === undefined ? WORDS(word, written) : Number(digits)
}

/** Boards that rate by numbers. */
const NUMBER_BOARDS = [
  'PEGI', 'USK', 'GRAC', 'KGRB', 'CLASSIND', 'DJCTQ', 'DEJUS', 'SS', 'ELSPA', 'JV', 'CSRR', 'EOCS', 'ESRA', 'FPB', 'GRB',
  'IARC', 'IGAC', 'INCAA', 'KMRB', 'MDA', 'MTRCB', 'SELL', 'TECTOY', 'VET', 'VRC'
]
const ACB_AGES = { G: 0, PG: 8, M: 15, MA15: 15, R18: 18, X18: 18, RC: 18 }
/** A former name of Australia's board and the name of New Zealand's board, which adds ages of its own. */
const OFLC_AGES = { ...ACB_AGES, R13: 13, R15: 15, R16: 16, RP13: 13, RP16: 16, RP18: 18 }

/** Readers of ratings by board. Names of boards and ratings are in capitals, without spaces and signs. */
const BOARDS: ReadonlyMap<string, RatingBoard> = new Map([
  ['ESRB', lettersBoard({ EC: 3, E: 6, KA: 6, E10: 10, T: 13, M: 17, AO: 18 })],
  ['CERO', lettersBoard({ A: 0, B: 12, C: 15, D: 17, Z: 18 })],
  ['ACB', lettersBoard(ACB_AGES)],
  ['OFLC', lettersBoard(OFLC_AGES)],
  ['BBFC', lettersBoard({ U: 0, PG: 8, 12: 12, '12A': 12, 15: 15, 18: 18, R18: 18 })],
  // Sega marked games for adults only; its other ratings state no age.
  ['SEGA', lettersBoard({ 18: 18 })],
  ...NUMBER_BOARDS.map((board) => [board, numbersBoard] as const)
])

const toWord = (text: string) => text.toUpperCase().replaceAll(/[^A-Z\d]+/g, '')

/**
 * Returns the age from which a rating allows a game: `minimumAge('ESRB', 'E10+')` is 10. An age above 21 counts as
 * 21.
 * Returns undefined for a board or a rating that states no age, such as a pending one.
 */
export function minimumAge (board: string, rating: string): number | undefined {
  const age = BOARDS.get(toWord(board))?.(toWord(rating), rating)
  return age === undefined ? undefined : Math.min(age, AGE_MAX)
}

/** Returns the highest age among the ratings; undefined when none states an age. */
export function strictestAge (
  ratings: readonly { readonly board?: string | undefined, readonly rating?: string | undefined }[]
): number | undefined {
  const ages = ratings.flatMap(({ board = '', rating = '' }) => minimumAge(board, rating) ?? [])
  return ages.length === 0 ? undefined : Math.max(...ages)
}
