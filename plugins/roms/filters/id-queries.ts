import { type RawBuilder, sql } from 'kysely'
import type { LibraryRow } from '../../library/library-rows.ts'
import type { RomProviders } from '../providers.ts'
import { isChangedAfter } from '../../platforms/changed-after.ts'
import { DUMP_STATUSES, type DumpStatus } from '../entities.ts'
import { UNPLAYABLE, VERIFIED_IDS, readProviders } from './list-conditions.ts'
import type { ListRomsQuery } from './list-query.ts'
import { idsWithSiblings } from './siblings.ts'
import { readLogic } from './value-filters.ts'

/** A query for ids of ROMs, which may return an id repeatedly. */
export interface IdQuery {
  ids: RawBuilder<unknown>
  /** The name by which a worker keeps the ids; null if too many queries are like this one. */
  name: string | null
}

/** A filter of a list by ids, which queries return. */
export interface IdFilter {
  queries: readonly IdQuery[]
  /** True for the ids that all queries return, false for those that any of them returns. */
  isOfAll?: boolean
  /** True if the list has all ROMs without these ids, false if only those with them. */
  isExcluded: boolean
  /** True if the ids are those of a caller who sees all ROMs. */
  isForAllSeeing?: boolean
  /** True if the ids depend on what belongs to the caller, such as marks. */
  isOwn?: boolean
}

/** A query in two parts. */
export interface SplitQuery {
  filter: IdFilter
  /** The query without the filter. */
  rest: ListRomsQuery
}

/** Returns a query split by ids that no worker keeps. */
export const splitByIds = (
  ids: RawBuilder<unknown>, rest: ListRomsQuery, more: Partial<Pick<IdFilter, 'isExcluded' | 'isOwn'>> = {}
): SplitQuery => ({ filter: { queries: [{ ids, name: null }], isExcluded: false, ...more }, rest })

const matchedBy = (key: string): IdQuery =>
  ({ name: `matched by ${key}`, ids: sql`select m.rom_id from rom_matches m where m.provider = ${key}` })

/** Filters that are true or false, for which an index has the ids of all ROMs that have the flag or that lack it. */
const INDEXED_FLAGS = ['missing', 'has_soundtrack', 'has_ra', 'matched', 'playable', 'verified', 'duplicate'] as const

/** Returns the queries for each flag. Most ROMs are of platforms that can be played, so these are for the others. */
function queriesByFlag ({ identifying }: RomProviders): Record<typeof INDEXED_FLAGS[number], readonly IdQuery[]> {
  const one = (name: string, ids: RawBuilder<unknown>) => [{ name, ids }]
  return {
    missing: one('missing', sql`select o.id from roms o where o.missing_from_fs`),
    has_soundtrack: one('with soundtrack', sql`select o.id from roms o where o.has_soundtrack`),
    has_ra: [matchedBy('ra')],
    matched: identifying.map(matchedBy),
    playable: one('unplayable', sql`select o.id from roms o where o.platform_id in (${UNPLAYABLE})`),
    verified: one('verified', VERIFIED_IDS),
    duplicate: one('with siblings', idsWithSiblings(identifying, null))
  }
}

/** Splits off a flag of which an index has the ids. */
export function splitFlag (query: ListRomsQuery, providers: RomProviders): SplitQuery | null {
  const name = INDEXED_FLAGS.find((flag) => query[flag] !== undefined)
  if (name === undefined) return null
  const { [name]: isWanted, ...rest } = query
  const isOfOthers = name === 'playable'
  const filter = {
    queries: queriesByFlag(providers)[name], isExcluded: isWanted === isOfOthers, isForAllSeeing: name === 'duplicate'
  }
  return { filter, rest }
}

/** Splits off the providers with a match. */
export function splitProviders (query: ListRomsQuery, providers: RomProviders): SplitQuery | null {
  const keys = readProviders(query, providers)
  if (keys.length === 0) return null
  const logic = readLogic(query.metadata_providers_logic)
  const rest = { ...query, metadata_providers: [], metadata_providers_logic: 'any' }
  return { filter: { queries: keys.map(matchedBy), isOfAll: logic === 'all', isExcluded: logic === 'none' }, rest }
}

const ofDump = (status: DumpStatus): IdQuery =>
  ({ name: `dump ${status}`, ids: sql`select d.rom_id from rom_dumps d where d.status = ${status}` })

/** Splits off the results of the comparison with DAT files. */
export function splitDumps (query: ListRomsQuery): SplitQuery | null {
  const { dump_statuses: statuses } = query
  if (statuses.length === 0) return null
  const queries = [...new Set(statuses)].map(ofDump)
  return { filter: { queries, isExcluded: false }, rest: { ...query, dump_statuses: [] } }
}

const ofLibrary = (id: number): IdQuery =>
  ({ name: `of library ${id}`, ids: sql`select o.id from roms o where o.library_id = ${id}` })

/** Splits off one library. */
export function splitLibrary (query: ListRomsQuery): SplitQuery | null {
  const [id, ...others] = query.library_ids
  if (id === undefined || others.length > 0) return null
  return { filter: { queries: [ofLibrary(id)], isExcluded: false }, rest: { ...query, library_ids: [] } }
}

/** Splits off the time after which ROMs changed, because old times find most ROMs. */
export function splitTime (query: ListRomsQuery): SplitQuery | null {
  const { updated_after: time, ...rest } = query
  if (time === undefined) return null
  return splitByIds(sql`select o.id from roms o where ${isChangedAfter('o.updated_at', time)}`, rest)
}

/** Lists the queries that have a name. */
export const listNamedQueries = (providers: RomProviders, libraries: readonly Pick<LibraryRow, 'id'>[]): IdQuery[] => [
  ...Object.values(queriesByFlag(providers)).flat(),
  ...providers.all.map(({ key }) => matchedBy(key)),
  ...DUMP_STATUSES.map(ofDump),
  // Nobody chooses the only library.
  ...(libraries.length === 1 ? [] : libraries.map(({ id }) => ofLibrary(id)))
]
