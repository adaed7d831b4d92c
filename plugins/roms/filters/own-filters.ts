import { type RawBuilder, sql } from 'kysely'
import { type Condition, allOf, anyOf } from '../../../core/database/conditions.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { UserFiles } from '../extensions.ts'
import { type SplitQuery, splitByIds } from './id-queries.ts'
import { idsInCollection, idsOfFavorites, isPlayed, listStatuses } from './list-conditions.ts'
import type { ListRomsQuery } from './list-query.ts'
import { readLogic } from './value-filters.ts'

const split = (ids: RawBuilder<unknown>, isExcluded: boolean, rest: ListRomsQuery): SplitQuery =>
  splitByIds(ids, rest, { isExcluded, isOwn: true })

const idsMarked = (caller: AnyCaller, condition: Condition) =>
  sql`select u.rom_id from rom_users u where u.user_id = ${caller?.id ?? -1} and ${condition}`

const FLAGS = ['favorite', 'last_played', 'has_saves', 'has_states'] as const

function splitFlag (query: ListRomsQuery, caller: AnyCaller, userFiles: UserFiles): SplitQuery | null {
  const name = FLAGS.find((flag) => query[flag] !== undefined)
  if (name === undefined) return null
  const { [name]: isWanted, ...rest } = query
  const ids: Record<typeof name, RawBuilder<unknown>> = {
    favorite: idsOfFavorites(caller),
    last_played: idsMarked(caller, isPlayed),
    has_saves: userFiles.selectIds(caller, 'save'),
    has_states: userFiles.selectIds(caller, 'state')
  }
  return split(ids[name], isWanted === false, rest)
}

function splitStatuses (query: ListRomsQuery, caller: AnyCaller): SplitQuery | null {
  const conditions = listStatuses(query)
  // Only a list by this status has hidden ROMs.
  if (conditions.length === 0 || query.statuses.includes('hidden')) return null
  const logic = readLogic(query.statuses_logic)
  const isListed = logic === 'all' ? allOf(conditions) : anyOf(conditions)
  return split(idsMarked(caller, isListed), logic === 'none', { ...query, statuses: [], statuses_logic: 'any' })
}

/** Splits off a filter by what belongs to the caller: a collection, favourites, marks, saves or states. */
export function splitOwn (query: ListRomsQuery, caller: AnyCaller, userFiles: UserFiles): SplitQuery | null {
  const { collection_id: collection, ...rest } = query
  if (collection !== undefined) return split(idsInCollection(caller, collection), false, rest)
  return splitFlag(query, caller, userFiles) ?? splitStatuses(query, caller)
}
