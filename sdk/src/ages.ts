/** @param word the rating in capitals without spaces and signs; `written` is the rating as it was given */
type Board = (word: string, written: string) => number | undefined

/** The highest age anybody rates for. */
const AGE_MAX = 21

const letters = (ages: Readonly<Record<string, number>>): Board => {
  const byRating = new Map(Object.entries(ages))
  return (word) => byRating.get(word)
}

/** Ratings without a number, of boards that rate by numbers. */
const WORDS = letters({ L: 0, ALL: 0, G: 0, GA: 0, TP: 0, ATP: 0, AD: 18, M: 18, R: 18, RED: 18 })

/** The rating is the age, with or without letters around it, or a word; of a range such as `7-9` its first age. */
const numbers: Board = (word, written) => {
  const digits = /\d+/.exec(written)?.[0]
  return digits === undefined ? WORDS(word, written) : Number(digits)
}

/** Boards that rate by numbers. */
const NUMBER_BOARDS = [
  'PEGI', 'USK', 'GRAC', 'KGRB', 'CLASSIND', 'DJCTQ', 'DEJUS', 'SS', 'ELSPA', 'JV', 'CSRR', 'EOCS', 'ESRA', 'FPB', 'GRB',
  'IARC', 'IGAC', 'INCAA', 'KMRB', 'MDA', 'MTRCB', 'SELL', 'TECTOY', 'VET', 'VRC'
]
const ACB_AGES = { G: 0, PG: 8, M: 15, MA15: 15, R18: 18, X18: 18, RC: 18 }
/** Australia's board had this name before, and New Zealand's has it, which adds ages of its own. */
const OFLC_AGES = { ...ACB_AGES, R13: 13, R15: 15, R16: 16, RP13: 13, RP16: 16, RP18: 18 }

/** Boards by their names, and their ratings, in capitals without spaces and signs. */
const BOARDS: ReadonlyMap<string, Board> = new Map([
  ['ESRB', letters({ EC: 3, E: 6, KA: 6, E10: 10, T: 13, M: 17, AO: 18 })],
  ['CERO', letters({ A: 0, B: 12, C: 15, D: 17, Z: 18 })],
  ['ACB', letters(ACB_AGES)],
  ['OFLC', letters(OFLC_AGES)],
  ['BBFC', letters({ U: 0, PG: 8, 12: 12, '12A': 12, 15: 15, 18: 18, R18: 18 })],
  // Sega marked games for adults only; other ratings of it say no age.
  ['SEGA', letters({ 18: 18 })],
  ...NUMBER_BOARDS.map((board) => [board, numbers] as const)
])

const toWord = (text: string) => text.toUpperCase().replaceAll(/[^A-Z\d]+/g, '')

/**
 * The age from which a rating allows a game: `minimumAge('ESRB', 'E10+')` is 10. An age above 21 counts as 21.
 * Undefined for a board or a rating that says no age, such as one that is pending.
 */
export function minimumAge (board: string, rating: string): number | undefined {
  const age = BOARDS.get(toWord(board))?.(toWord(rating), rating)
  return age === undefined ? undefined : Math.min(age, AGE_MAX)
}

/** The highest of the ages that ratings say; undefined when none says one. */
export function strictestAge (
  ratings: readonly { readonly board?: string | undefined, readonly rating?: string | undefined }[]
): number | undefined {
  const ages = ratings.flatMap(({ board = '', rating = '' }) => minimumAge(board, rating) ?? [])
  return ages.length === 0 ? undefined : Math.max(...ages)
}
