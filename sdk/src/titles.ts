/** Two switches of {@link normalizeTitle}. */
export interface TitleOptions {
  /** Leaves `a`, `an` and `the` where they are. */
  keepArticles?: boolean
  /** Leaves punctuation, and the spaces around it, as they are. */
  keepPunctuation?: boolean
}

export interface BestTitleOptions {
  /** The lowest score that counts, 0 to 1. */
  threshold: number
  /** Compares a candidate by its last part only, see `lastPart`. */
  split?: boolean
}

export interface BestTitle {
  title: string
  /** Where the title stands in the list that was given. */
  index: number
  /** 0 to 1. */
  score: number
}

/** One of several games that may be meant. */
export interface RankedCandidate<Candidate> {
  candidate: Candidate
  /** How like the best of its titles is to the term, 0 to 1. */
  score: number
}

const EXTENSION = /\.(?:[a-z]+\.)*[\p{L}\p{N}_]+$/u
const BRACKETS = new Map([[')', '('], [']', '[']])
const LEADING_ARTICLE = /^\s*(?:an?|the)\s+/
const COMMA_ARTICLE = /,\s+(?:an?|the)(?=\s*(?:[^\p{L}\p{M}\p{N}_\s]|$))/gu
const PUNCTUATION = /[^\p{L}\p{M}\p{N}_\s]/gu
/** A hyphen within a word is none, nor is the colon of a time. */
const SEPARATOR = /:(?=\s|$)|(?:^|\s)[-–—/](?=\s|$)/u
const NON_ASCII = /[^\0-\x7f]/
const MARKS = /\p{Mn}/gu
const TRAILING_DIGITS = /(?:^|\D)0*(\d+)$/
// Numerals to 39: with `c`, `d`, `l` and `m` words such as `mix` and `cd` would become numbers.
const ROMAN = /(?:^|\s)(x{0,3})(ix|iv|v?i{0,3})$/
const ROMAN_UNITS: Readonly<Record<string, number>> =
  { '': 0, i: 1, ii: 2, iii: 3, iv: 4, v: 5, vi: 6, vii: 7, viii: 8, ix: 9 }
// A title has at most 350 characters; the comparison is quadratic in the length, and candidates come from outside.
const MAX_COMPARED = 512

/**
 * What to look for at a source: the file name without its extension and without the tags at its end.
 * A name that is nothing but tags keeps its first tag, so that the term is never empty unless the name is.
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

/** Where the bracketed group that ends the text starts; -1 when it does not end with one. */
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
 * A title in the form in which titles are compared: lower case, without articles, punctuation and accents.
 *
 * @example normalizeTitle('Pokémon: The Ruby Version') // 'pokemon the ruby version'
 */
export function normalizeTitle (text: string, options: TitleOptions = {}): string {
  let title = text.normalize('NFC').toLowerCase().replaceAll('_', ' ')
  if (options.keepArticles !== true) title = title.replace(LEADING_ARTICLE, '').replace(COMMA_ARTICLE, '')
  if (options.keepPunctuation !== true) title = title.replace(PUNCTUATION, ' ').replace(/\s+/g, ' ')
  if (NON_ASCII.test(title)) title = title.normalize('NFD').replace(MARKS, '')
  return title.trim()
}

/**
 * How alike two titles are once normalised, 0 to 1: Jaro-Winkler, in which the common prefix counts at its full
 * length and not, as in most implementations, up to four characters. Only the first 512 characters are compared.
 */
export function compareTitles (a: string, b: string): number {
  const left = normalizeTitle(a)
  const right = normalizeTitle(b)
  // Titles of punctuation only, such as `!!!`, would all be equal.
  if (left === '' && right === '') return a.trim() === b.trim() ? 1 : 0
  return compareNormalized(left, right)
}

/**
 * The candidate most like the term, the first one on a tie, or undefined when none reaches the threshold.
 * Neighbouring sequels are almost equal as text, so a candidate is passed over when it and the term both end
 * with a number, arabic or roman, and the numbers differ.
 */
export function findBestTitle (
  term: string, titles: readonly string[], { threshold, split = false }: BestTitleOptions
): BestTitle | undefined {
  const wanted = sequelNumber(term)
  let best: BestTitle | undefined
  for (const [index, title] of titles.entries()) {
    const compared = split ? lastPart(title) : title
    const number = sequelNumber(compared)
    if (wanted !== null && number !== null && wanted !== number) continue
    const score = compareTitles(term, compared)
    if (score >= threshold && (best === undefined || score > best.score)) best = { title, index, score }
    if (score === 1) break
  }
  return best
}

/**
 * The candidate that has the best title in the sense of {@link findBestTitle}. The first title of each is its own name:
 * on a tie it goes before all alternative ones, and the first candidate before later ones.
 */
export function findBestCandidate<Candidate> (
  term: string, candidates: readonly Candidate[], listTitles: (candidate: Candidate) => readonly string[],
  options: BestTitleOptions
): RankedCandidate<Candidate> | undefined {
  const titled = candidates.flatMap((candidate) =>
    listTitles(candidate).map((title, place) => ({ candidate, title, isName: place === 0 })))
  const ordered = [...titled.filter(({ isName }) => isName), ...titled.filter(({ isName }) => !isName)]
  const best = findBestTitle(term, ordered.map(({ title }) => title), options)
  const found = best && ordered[best.index]
  return found && { candidate: found.candidate, score: best.score }
}

/** All candidates, those with the title most like the term first. */
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
 * What follows the last separator of a title, or the title itself: sources often leave the series' name out. A
 * separator is a colon with a space after it, or a dash or slash between spaces.
 *
 * @example lastPart('Spider-Man: Second Tide') // 'Second Tide'
 */
export function lastPart (title: string): string {
  return title.split(SEPARATOR).map((part) => part.trim()).filter((part) => part !== '').at(-1) ?? title
}

/** The number a title ends with, as text, or null. */
function sequelNumber (title: string): string | null {
  const normalized = normalizeTitle(title)
  const arabic = TRAILING_DIGITS.exec(normalized)?.[1]
  if (arabic !== undefined) return arabic
  const roman = ROMAN.exec(normalized)
  const value = (roman?.[1] ?? '').length * 10 + (ROMAN_UNITS[roman?.[2] ?? ''] ?? 0)
  return value === 0 ? null : String(value)
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
