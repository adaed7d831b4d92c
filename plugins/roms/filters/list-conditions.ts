import { sql } from 'kysely'
import { type Condition, NOTHING, allOf, anyOf, not } from '../../../core/database/conditions.ts'
import { isChangedAfter } from '../../platforms/changed-after.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { PLAY_STATUSES } from '../entities.ts'
import type { RomExtensions } from '../extensions.ts'
import type { ListRomsQuery, ScopeQuery } from './list-query.ts'
import type { RomProviders } from '../providers.ts'
import { hasSibling, hasSiblings } from './siblings.ts'
import { readVirtualId } from '../virtual-collections.ts'
import { filterOfVirtual, readLogic, readValueFilters, valueConditions } from './value-filters.ts'
import { isCollectionVisible } from '../visibility.ts'

// All conditions here are on `roms` aliased `r` and the caller's marks `u`.

const FLAG_MARKS = ['now_playing', 'backlogged', 'hidden'] as const

/** Platforms that a browser can emulate. */
const PLAYABLE = ['3do', 'amiga', 'amiga-cd', 'amiga-cd32', 'arcade', 'neogeoaes', 'neogeomvs', 'atari2600', 'atari5200',
  'atari7800', 'c-plus-4', 'cpet', 'c64', 'c128', 'colecovision', 'jaguar', 'lynx', 'dos', 'neo-geo-pocket',
  'neo-geo-pocket-color', 'nes', 'famicom', 'fds', 'n64', '64dd', 'nds', 'nintendo-dsi', 'gb', 'gba', 'gbc', 'pc-fx',
  'philips-cd-i', 'psx', 'psp', 'segacd', 'sega32', 'genesis', 'sms', 'gamegear', 'saturn', 'snes', 'sfam', 'tg16',
  'vic-20', 'virtualboy', 'wonderswan', 'wonderswan-color', 'browser']
export const UNPLAYABLE = sql`select id from platforms where slug <> all(${PLAYABLE}::text[])`

export const hasId = (id: number): Condition => sql<boolean>`r.id = ${id}`
export const isOneOf = (ids: readonly number[]): Condition => sql<boolean>`r.id = any(${ids}::int[])`
export const isOfPlatform = (id: number): Condition => sql<boolean>`r.platform_id = ${id}`
/** True if the ROM's files existed at the last scan. */
export const isThere: Condition = sql<boolean>`not r.missing_from_fs`
/** True if the caller set a mark on the ROM, or played it. */
export const isMarked: Condition = sql<boolean>`u.id is not null`
/** True if the caller played the ROM. */
export const isPlayed: Condition = sql<boolean>`u.last_played is not null`

/** True if the ROM has one of the ids, which are keyed by provider. */
export function hasProviderId (ids: Readonly<Record<string, number | string>>): Condition {
  const pairs = Object.entries(ids).map(([key, id]) => sql<boolean>`(m.provider = ${key} and m.provider_id = ${String(id)})`)
  return sql<boolean>`exists (select 1 from rom_matches m where m.rom_id = r.id and ${anyOf(pairs)})`
}

function combine (conditions: readonly Condition[], word: string): Condition {
  const logic = readLogic(word)
  if (logic === 'all') return allOf(conditions)
  return logic === 'none' ? not(anyOf(conditions)) : anyOf(conditions)
}

/** Returns the known providers that a query names, each once: hundreds of subqueries would take minutes to plan. */
export const readProviders = ({ metadata_providers: names }: ListRomsQuery, { byKey }: RomProviders) =>
  [...new Set(names)].filter((name) => byKey.has(name))

/** True if one of these providers has a match. */
const isMatchedBy = (keys: readonly string[]): Condition => sql<boolean>`exists (
  select 1 from rom_matches m where m.rom_id = r.id and m.provider = any(${keys}::text[]))`

const hasGoodFlag = sql<boolean>`(m.provider = 'hasheous'
    and jsonb_path_exists(m.match, '$.metadata.keyvalue() ? (@.key like_regex "_match$" && @.value == true)', '{}', true))`
const isGoodDump = sql<boolean>`d.status in ('verified', 'misnamed')`
/** Selects the ids of the ROMs that a flag of Hasheous, or a DAT file, calls a good dump; once or repeatedly. */
export const VERIFIED_IDS = sql`select m.rom_id from rom_matches m where ${hasGoodFlag}
  union all select d.rom_id from rom_dumps d where ${isGoodDump}`
/** True if a flag of Hasheous, or a DAT file, says that the dump is good. */
const isVerified = sql<boolean>`(exists (select 1 from rom_matches m where m.rom_id = r.id and ${hasGoodFlag})
  or exists (select 1 from rom_dumps d where d.rom_id = r.id and ${isGoodDump}))`
/** The same as a list of ids, because for alternatives the database would search the matches of each ROM. */
const isAmongVerified = sql<boolean>`r.id in (${VERIFIED_IDS})`

/** Selects the ids of the ROMs in the plain collections that meet a condition and that the caller sees. */
const idsCollected = (caller: AnyCaller, condition: Condition) => sql`
  select l.rom_id from collection_roms l join collections c on c.id = l.collection_id
  where ${condition} and ${isCollectionVisible(caller)}`

export const idsInCollection = (caller: AnyCaller, id: number) => idsCollected(caller, sql<boolean>`c.id = ${id}`)
export const idsOfFavorites = (caller: AnyCaller) =>
  idsCollected(caller, sql<boolean>`c.user_id = ${caller?.id ?? -1} and c.is_favorite`)

function isInVirtual (id: string, isForFew: boolean): Condition {
  const collection = readVirtualId(id)
  return collection === null ? NOTHING : allOf(valueConditions([filterOfVirtual(collection)], isForFew))
}

/**
 * A part of the library: a query, and the conditions of its search and its smart collection, if any.
 *
 * @property isForFew true if the conditions apply to few ROMs, not to all
 */
interface Scope { query: ScopeQuery, search: Condition | null, smart: Condition | null, isForFew: boolean }

/** Returns the conditions that select a part of the library. */
export function scopeConditions (caller: AnyCaller, { query, search, smart, isForFew }: Scope): Condition[] {
  const conditions: Condition[] = []
  const platforms = query.platform_id === undefined ? query.platform_ids : [...query.platform_ids, query.platform_id]
  if (platforms.length > 0) conditions.push(sql<boolean>`r.platform_id = any(${platforms}::int[])`)
  if (query.library_ids.length > 0) conditions.push(sql<boolean>`r.library_id = any(${query.library_ids}::int[])`)
  const { collection_id: collection, virtual_collection_id: virtual } = query
  if (collection !== undefined) conditions.push(sql<boolean>`r.id in (${idsInCollection(caller, collection)})`)
  if (virtual !== undefined) conditions.push(isInVirtual(virtual, isForFew))
  if (smart !== null) conditions.push(smart)
  if (search !== null) conditions.push(search)
  return conditions
}

/** None of these conditions is ever null. */
const FLAGS = {
  last_played: isPlayed,
  playable: sql<boolean>`r.platform_id not in (${UNPLAYABLE})`,
  missing: sql<boolean>`r.missing_from_fs`,
  has_ra: isMatchedBy(['ra']),
  has_soundtrack: sql<boolean>`r.has_soundtrack`
} as const

/** @property isForFew true if the condition applies to few ROMs, not to all */
interface FilterOptions extends RomExtensions { caller: AnyCaller, isForFew: boolean }

function flagConditions (
  query: ListRomsQuery, { caller, providers, userFiles, isForFew }: FilterOptions
): Condition[] {
  const flags: Record<string, Condition> = {
    ...FLAGS,
    matched: isMatchedBy(providers.identifying),
    verified: isForFew ? isVerified : isAmongVerified,
    duplicate: (isForFew ? hasSibling : hasSiblings)(providers.identifying, caller),
    favorite: sql<boolean>`r.id in (${idsOfFavorites(caller)})`,
    has_saves: userFiles.hasFilesCondition(caller, 'save'),
    has_states: userFiles.hasFilesCondition(caller, 'state')
  }
  const values: Record<string, unknown> = query
  return Object.entries(flags).flatMap(([name, condition]) => {
    const value = values[name]
    if (typeof value !== 'boolean') return []
    // A bare subquery without a function around it, because the database can turn it into a join.
    return [value ? condition : sql<boolean>`not ${condition}`]
  })
}

/** Returns a condition for each known status that a query names. */
export function listStatuses ({ statuses }: ListRomsQuery): Condition[] {
  const flags = FLAG_MARKS.filter((flag) => statuses.includes(flag))
    .map((flag) => sql<boolean>`coalesce(${sql.ref(`u.${flag}`)}, false)`)
  const plays = PLAY_STATUSES.filter((status) => statuses.includes(status))
    .map((status) => sql<boolean>`coalesce(u.status = ${status}, false)`)
  return [...flags, ...plays]
}

const statusConditions = (query: ListRomsQuery): Condition[] =>
  query.statuses.length === 0 ? [] : [combine(listStatuses(query), query.statuses_logic)]

function dumpConditions ({ dump_statuses: statuses }: ListRomsQuery): Condition[] {
  return statuses.length === 0
    ? []
    : [sql<boolean>`r.id in (select d.rom_id from rom_dumps d where d.status = any(${statuses}::text[]))`]
}

function providerConditions (query: ListRomsQuery, providers: RomProviders): Condition[] {
  const keys = readProviders(query, providers)
  if (keys.length === 0) return []
  return [combine(keys.map((key) => isMatchedBy([key])), query.metadata_providers_logic)]
}

/** Returns all filters of a list within its scope, except the ROMs that the caller hid. */
export function filterConditions (query: ListRomsQuery, options: FilterOptions): Condition[] {
  return [
    ...(query.updated_after === undefined ? [] : [isChangedAfter('r.updated_at', query.updated_after)]),
    ...flagConditions(query, options),
    ...valueConditions(readValueFilters(query), options.isForFew),
    ...statusConditions(query),
    ...dumpConditions(query),
    ...providerConditions(query, options.providers)
  ]
}

/** Selects the ids of the ROMs that the caller hid. */
export const idsHiddenBy = (caller: AnyCaller) =>
  sql`select h.rom_id from rom_users h where h.user_id = ${caller?.id ?? -1} and h.hidden`

/**
 * True if the caller has not hidden the ROM.
 *
 * @param isJoined true if the order joins another table, or another table names the ROMs. Then this condition is a join
 * too, because the database knows how many ROMs remain, and looks up each ROM if they are few. Otherwise a list of ids
 * keeps the order of an index, which a join would lose.
 */
export function isNotHidden (caller: AnyCaller, isJoined: boolean): Condition {
  const hidden = idsHiddenBy(caller)
  return isJoined
    ? sql<boolean>`not exists (select from (${hidden}) h where h.rom_id = r.id)`
    : sql<boolean>`r.id not in (${hidden})`
}
