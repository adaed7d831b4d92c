import { type SearchStep, createShortList } from '../lookup-step.ts'

/** Options of {@link normalizeTitle}. */
export interface TitleOptions {
  /** True keeps `a`, `an` and `the`. */
  keepArticles?: boolean
  /** True keeps punctuation and the spaces around it. */
  keepPunctuation?: boolean
}

/** Options of {@link findBestTitle} and {@link findBestCandidate}. */
export interface BestTitleOptions {
  /** The lowest score that counts, 0 to 1. */
  threshold: number
  /** True compares only the last part of each candidate, see `lastPart`. */
  split?: boolean
  /** Receives the term and the best candidates. A provider passes its `ctx.explain` in a lookup of a ROM. */
  explain?: ((step: SearchStep) => void) | undefined
}

/** The most similar title of a list. */
export interface BestTitle {
  title: string
  /** The index of the title in the given list. */
  index: number
  /** From 0 to 1. */
  score: number
}

/** The numbers in a title, arabic or roman, as text without leading zeros. */
interface TitleNumbers {
  all: ReadonlySet<string>
  /** The number that ends the title. */
  last: string | undefined
  lastWord: string
}

/** One of several possible games with its score. */
export interface RankedCandidate<Candidate> {
  candidate: Candidate
  /** The similarity of its best title to the term, 0 to 1. */
  score: number
}

const EXTENSION = /\.(?:[a-z]+\.)*[\p{L}\p{N}_]+$/u
const BRACKETS = new Map([[')', '('], [']', '[']])
const LEADING_ARTICLE = /^\s*(?:an?|the)\s+/
const COMMA_ARTICLE = /,\s+(?:an?|the)(?=\s*(?:[^\p{L}\p{M}\p{N}_\s]|$))/gu
const PUNCTUATION = /[^\p{L}\p{M}\p{N}_\s]/gu
/** Separators of title parts. A hyphen within a word and the colon of a time are not separators. */
const SEPARATOR = /(?:^|\s)[-–—/]:*(?=\s|$)|:+(?=\s|$)/u
const NON_ASCII = /[^\0-\x7f]/
/** Accents. In other scripts a mark makes another letter: `ハ` is not `バ`, and marks are vowels in Hindi and Thai. */
const ACCENTS = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{Mn}+/gu
/** Ends of words. Digits are a word of their own: `X2` is `X 2`. */
const WORD_END = /\s|(?<=\d)(?=\D)|(?<=\D)(?=\d)/
const DIGITS = /^\d+$/
// Roman numerals up to 39. With `c`, `d`, `l` and `m`, words such as `mix` and `cd` would count as numbers.
const ROMAN = /^(x{0,3})(ix|iv|v?i{0,3})$/
const ROMAN_UNITS: Readonly<Record<string, number>> =
  { '': 0, i: 1, ii: 2, iii: 3, iv: 4, v: 5, vi: 6, vii: 7, viii: 8, ix: 9 }
// A title has at most 350 characters. The comparison is quadratic in the length, and candidates come from outside.
const MAX_COMPARED = 512

/**
 * Returns the search term for a provider: the file name without its extension and without the tags at its end. A name
 * that consists of tags keeps its first tag, so the term is empty only if the name is.
 *
 * @example toSearchTerm('Chrono Harbor (USA) [!].tar.gz') // 'Chrono Harbor'
 */
export function toSearchTerm (fsName: string): string {
  const stem = fsName.replace(EXTENSION, '').trim()
  let term = stem === '' ? fsName.trim() : stem
  for (;;) {
    const start = findLastGroup(term)
    const rest = start === -1 ? '' : term.slice(0, start).trimEnd()
    if (rest === '') return term
    term = rest
  }
}

/**
 * Splits a file name into the titles that it holds. ` ~ ` separates the names of one game in several languages, and a
 * provider may know each of them. The whole name comes last, because some titles contain the sign themselves.
 *
 * @example splitTitles('Uta ~ Harbor Song') // ['Uta', 'Harbor Song', 'Uta ~ Harbor Song']
 */
export function splitTitles (name: string): string[] {
  const parts = name.split(' ~ ').map((part) => part.trim()).filter((part) => part !== '')
  return [...new Set([...parts, name])]
}

/** Returns the start of the bracketed group at the end of the text; -1 if the text does not end with one. */
function findLastGroup (text: string): number {
  const close = text.slice(-1)
  const open = BRACKETS.get(close)
  if (open === undefined) return -1
  let depth = 0
  for (let i = text.length - 1; i >= 0; i--) {
    if (text[i] === close) depth++
    else if (text[i] === open && --depth === 0) return i
  }
  return -1
}

/**
 * Normalizes a title for comparison: lower case, without articles, punctuation and the accents of Latin, Greek and
 * Cyrillic letters.
 *
 * @example normalizeTitle('Pokémon: The Ruby Version') // 'pokemon the ruby version'
 */
export function normalizeTitle (text: string, options: TitleOptions = {}): string {
  let title = text.normalize('NFC').toLowerCase().replaceAll('_', ' ')
  if (options.keepArticles !== true) title = title.replace(LEADING_ARTICLE, '').replace(COMMA_ARTICLE, '')
  if (options.keepPunctuation !== true) title = title.replace(PUNCTUATION, ' ').replace(/\s+/g, ' ')
  if (NON_ASCII.test(title)) title = title.normalize('NFD').replace(ACCENTS, '$1').normalize('NFC')
  return title.trim()
}

/**
 * Returns the words to send to a provider's search for a title. Latin titles are normalized. Titles in other scripts
 * are not, because a letter without its marks is another letter there. Empty if the title has no word, so no search
 * is needed.
 *
 * @example toQuery('Pokémon: The Ruby Version') // 'pokemon the ruby version'
 * @example toQuery('ゼルダの伝説') // 'ゼルダの伝説'
 */
export function toQuery (title: string, options: TitleOptions = {}): string {
  if (normalizeTitle(title) === '') return ''
  const plain = normalizeTitle(title, options)
  return NON_ASCII.test(plain) ? title.trim() : plain
}

/**
 * Returns the similarity of two titles after normalization, 0 to 1: Jaro-Winkler, in which the common prefix counts
 * at its full length and not, as in most implementations, up to four characters. Only the first 512 characters are
 * compared.
 */
export function compareTitles (a: string, b: string): number {
  const left = normalizeTitle(a)
  const right = normalizeTitle(b)
  // Titles of punctuation only, such as `!!!`, would otherwise all be equal.
  if (left === '' && right === '') return a.trim() === b.trim() ? 1 : 0
  return compareNormalized(left, right)
}

/**
 * Returns the candidate most similar to the term (the first on a tie), or undefined if none reaches the threshold.
 * Sequels are almost equal as text, so a candidate is skipped if its numbers, arabic or roman, differ from the
 * term's. `Harbor 3` matches neither `Harbor 2` nor `Harbor`, but may match `Harbor III: Third Tide`. A first part
 * may omit its number, and so may a title with a subtitle.
 */
export function findBestTitle (
  term: string, titles: readonly string[], { threshold, split = false, explain }: BestTitleOptions
): BestTitle | undefined {
  const wanted = readNumbers(term)
  const list = explain && createShortList()
  let best: BestTitle | undefined
  for (const [index, title] of titles.entries()) {
    const compared = split ? lastPart(title) : title
    const score = areOtherParts(wanted, readNumbers(compared)) ? null : compareTitles(term, compared)
    list?.add({ name: title, score })
    if (score === null || score < threshold) continue
    if (best === undefined || score > best.score) best = { title, index, score }
    if (score === 1) break
  }
  if (list !== undefined) explain?.({ by: 'search', term, threshold, count: titles.length, candidates: list.best })
  return best
}

/**
 * Returns the candidate with the best title, see {@link findBestTitle}. The first title of each candidate is its own
 * name. On a tie, names win over alternative titles, and earlier candidates over later ones.
 */
export function findBestCandidate<Candidate> (
  term: string, candidates: readonly Candidate[], listTitles: (candidate: Candidate) => readonly string[],
  { explain, ...options }: BestTitleOptions
): RankedCandidate<Candidate> | undefined {
  const titled = candidates.flatMap((candidate) =>
    listTitles(candidate).map((title, place) => ({ candidate, title, isName: place === 0 })))
  const ordered = [...titled.filter(({ isName }) => isName), ...titled.filter(({ isName }) => !isName)]
  const best = findBestTitle(term, ordered.map(({ title }) => title), {
    ...options, explain: explain && ((step) => { explain({ ...step, count: candidates.length }) })
  })
  const found = best && ordered[best.index]
  return found && { candidate: found.candidate, score: best.score }
}

/** Sorts candidates by the similarity of their best title to the term, best first. */
export function rankCandidates<Candidate> (
  term: string, candidates: readonly Candidate[], listTitles: (candidate: Candidate) => readonly string[]
): RankedCandidate<Candidate>[] {
  const scoreOf = (candidate: Candidate) =>
    Math.max(0, ...listTitles(candidate).map((title) => compareTitles(term, title)))
  return candidates
    .map((candidate) => ({ candidate, score: scoreOf(candidate) }))
    .toSorted((a, b) => b.score - a.score)
}

/**
 * True if one title is the other plus more words. Both are almost equal as text, but may name a game and its special
 * edition.
 *
 * @example isContinuation('Harbor Song', 'Harbor Song Plus') // true
 */
export function isContinuation (a: string, b: string): boolean {
  const [left, right] = [`${normalizeTitle(a)} `, `${normalizeTitle(b)} `]
  return left !== right && (left.startsWith(right) || right.startsWith(left))
}

/**
 * Returns the text after the last separator of a title, or the title itself, because providers often omit the name of
 * the series. A separator is a colon with a space after it, or a dash or slash between spaces.
 *
 * @example lastPart('Spider-Man: Second Tide') // 'Second Tide'
 */
export function lastPart (title: string): string {
  return title.split(SEPARATOR).map((part) => part.trim()).filter((part) => part !== '').at(-1) ?? title
}

/**
 * True if the numbers of two titles show that the games differ. One title may lack a number if both end with the same
 * word, because a common subtitle identifies the part.
 */
function areOtherParts (a: TitleNumbers, b: TitleNumbers): boolean {
  if (a.last !== undefined && b.last !== undefined && a.last !== b.last) return true
  const [extraA, extraB] = [countExtra(a, b), countExtra(b, a)]
  if (extraA > 0 && extraB > 0) return true
  return extraA + extraB > 0 && a.lastWord !== b.lastWord
}

/** Counts the numbers that the other title lacks. A `1` does not count if the other title has no number. */
function countExtra ({ all }: TitleNumbers, other: TitleNumbers): number {
  return [...all].filter((number) => !other.all.has(number) && !(number === '1' && other.all.size === 0)).length
}

function readNumbers (title: string): TitleNumbers {
  const words = normalizeTitle(title).split(WORD_END)
  const lastWord = words.at(-1) ?? ''
  const numbers = words.map(toNumber).filter((number) => number !== undefined)
  return { all: new Set(numbers), last: toNumber(lastWord), lastWord }
}

/** Returns the value of a numeral, or undefined for any other word. */
function toNumber (word: string): string | undefined {
  if (DIGITS.test(word)) return word.replace(/^0+(?=\d)/, '')
  const [, tens = '', units = ''] = ROMAN.exec(word) ?? []
  const value = tens.length * 10 + (ROMAN_UNITS[units] ?? 0)
  return value === 0 ? undefined : String(value)
}

function compareNormalized (left: string, right: string): number {
  if (left === right) return 1
  const a = Array.from(left).slice(0, MAX_COMPARED)
  const b = Array.from(right).slice(0, MAX_COMPARED)
  const jaro = compareJaro(a, b)
  if (jaro <= 0.7) return jaro
  const weight = Math.min(0.1, 1 / Math.max(a.length, b.length))
  return jaro + weight * commonPrefix(a, b) * (1 - jaro)
}

function commonPrefix (a: readonly string[], b: readonly string[]): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

/** Jaro similarity: M. A. Jaro, "Advances in Record-Linkage Methodology", JASA 84 (1989). */
function compareJaro (a: readonly string[], b: readonly string[]): number {
  const window = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1)
  const used = new Set<number>()
  const fromA: string[] = []
  for (const [i, character] of a.entries()) {
    const end = Math.min(b.length - 1, i + window)
    for (let j = Math.max(0, i - window); j <= end; j++) {
      if (b[j] !== character || used.has(j)) continue
      used.add(j)
      fromA.push(character)
      break
    }
  }
  if (fromA.length === 0) return 0
  const fromB = b.filter((_, j) => used.has(j))
  const matches = fromA.length
  const transpositions = Math.floor(fromA.filter((character, i) => character !== fromB[i]).length / 2)
  return (matches / a.length + matches / b.length + (matches - transpositions) / matches) / 3
}
