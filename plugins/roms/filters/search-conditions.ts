import { type RawBuilder, sql } from 'kysely'
import { escapeLike } from '../../../core/database/columns.ts'
import { type Condition, NOTHING, allOf, anyOf } from '../../../core/database/conditions.ts'

const HASH = /^(?:[\da-f]{8}|[\da-f]{32}|[\da-f]{40})$/i

/** Hashes in hex; an empty hash is ignored. */
export interface HashQuery { crc_hash?: string, md5_hash?: string, sha1_hash?: string, ra_hash?: string }

/** A query for ids of ROMs. */
type Ids = RawBuilder<unknown>

const filesWith = (column: string, hash: string): Ids =>
  sql`select f.rom_id from rom_files f where ${sql.ref(`f.${column}`)} = ${hash}`

/** Returns queries for the ids of ROMs with a hash, each of which uses the index of its column. */
function idsByHash (hashes: HashQuery): Ids[] {
  const given = (['crc_hash', 'md5_hash', 'sha1_hash', 'ra_hash'] as const).flatMap((name) => {
    const hash = (hashes[name] ?? '').toLowerCase()
    return hash === '' ? [] : [{ name, hash }]
  })
  return given.flatMap(({ name, hash }) => [
    sql`select o.id from roms o where ${sql.ref(`o.${name}`)} = ${hash}`,
    filesWith(name, hash),
    ...(name === 'sha1_hash' ? [filesWith('chd_sha1_hash', hash)] : [])
  ])
}

/** Uses one list of ids instead of alternatives, because for alternatives the database would read all ROMs. */
const isAmong = (ids: readonly Ids[]): Condition =>
  ids.length === 0 ? NOTHING : sql<boolean>`r.id in (${sql.join(ids, sql` union all `)})`

/** True if any of the hashes is that of the ROM, or of one of its files. */
export const hasHash = (hashes: HashQuery): Condition => isAmong(idsByHash(hashes))

function hashesOf (hash: string): HashQuery {
  if (hash.length === 8) return { crc_hash: hash }
  return hash.length === 32 ? { md5_hash: hash, ra_hash: hash } : { sha1_hash: hash }
}

/** Returns the words of each alternative of a search. */
const readTerm = (term: string): string[][] =>
  term.split('|').map((part) => part.split(/\s+/).filter(Boolean)).filter((words) => words.length > 0)

/** True if a word of a search is a hash, and so is compared with the hashes of files. */
export const containsHash = (term: string): boolean => readTerm(term).flat().some((word) => HASH.test(word))

/** Only such words have trigrams. For others, the index is slower than the rows themselves. */
const INDEXED_WORD = /[\p{L}\p{N}]{3}/u

/** Names of a row `n` of `rom_names`, for words that its index has or has not. */
const INDEXED_NAMES = sql`n.searched`
const OTHER_NAMES = sql`(n.searched || '')`

/** True for a row `n` of `rom_names` with a word. */
function isNamed (word: string): Condition {
  const names = INDEXED_WORD.test(word) ? INDEXED_NAMES : OTHER_NAMES
  return sql<boolean>`${names} like lower(${`%${escapeLike(word.normalize())}%`})`
}

const anyAlternative = (alternatives: string[][], matchesWord: (word: string) => Condition): Condition =>
  anyOf(alternatives.map((words) => allOf(words.map(matchesWord))))

const idsNamed = (condition: Condition): Ids => sql`select n.rom_id from rom_names n where ${condition}`
/** True if the names of a ROM `r` meet a condition. The database never joins such a subquery with all names. */
const hasNames = (condition: Condition): Condition =>
  sql<boolean>`(select ${condition} from rom_names n where n.rom_id = r.id)`

/** Selects the ids of all ROMs whose names match a search; null if it has no words, or also finds ROMs by hashes. */
export function idsBySearch (term: string): Ids | null {
  const words = readTerm(term)
  return words.length === 0 || containsHash(term) ? null : idsNamed(anyAlternative(words, isNamed))
}

/**
 * True if every word of one alternative occurs; null if the term has no words.
 *
 * @param isForFew true if the condition applies to few ROMs, not to all
 */
export function matchesTerm (term: string, isForFew: boolean): Condition | null {
  const alternatives = readTerm(term)
  if (alternatives.length === 0) return null
  const matches = (condition: Condition) => isForFew ? hasNames(condition) : isAmong([idsNamed(condition)])
  if (!containsHash(term)) return matches(anyAlternative(alternatives, isNamed))
  return anyAlternative(alternatives, (word) =>
    HASH.test(word) ? isAmong([idsNamed(isNamed(word)), ...idsByHash(hashesOf(word))]) : matches(isNamed(word)))
}
