import { type RawBuilder, sql } from 'kysely'
import type { LongReads } from '../library/long-reads.ts'
import { type AnyCaller, canSeeEverything, hiddenIds } from '../platforms/visibility.ts'
import { countValues, hashOfValue } from '../roms/value-count-rows.ts'
import { VIRTUAL_TYPES, type VirtualCollection, type VirtualType, isVirtualType } from '../roms/virtual-collections.ts'
import { isRomVisible } from '../roms/visibility.ts'
import { COVER, type CoverRow, HAS_COVER } from './rows.ts'

/** Minimum number of ROMs that share a value of a virtual collection. */
const MEMBERS_MIN = 3
export const COVERS_MAX = 5
/** ROMs with covers that are read first. Values of few ROMs are then searched in the index of values. */
const SAMPLE_ROMS = 20_000
/** With more members it takes less time to read every ROM once than to search the ROMs of each collection. */
export const SEARCHED_MEMBERS_MAX = 250_000

export const TYPES = Object.keys(VIRTUAL_TYPES).filter(isVirtualType)
type VirtualColumn = typeof VIRTUAL_TYPES[VirtualType]
const COLUMNS = TYPES.map((type) => VIRTUAL_TYPES[type])
const TYPES_BY_COLUMN = new Map<string, VirtualType>(TYPES.map((type) => [VIRTUAL_TYPES[type], type]))

export interface VirtualCount extends VirtualCollection { rom_count: number }

/** Counts a ROM once for each of its collections. */
export const countMembers = (collections: readonly VirtualCount[]) =>
  collections.reduce((sum, { rom_count: count }) => sum + count, 0)

/** Selects the values of a ROM of a table. */
const selectValues = (table: string) => sql.join(TYPES.map((type) =>
  sql`select ${type}::text as type, unnest(${sql.ref(`${table}.${VIRTUAL_TYPES[type]}`)}) as name`), sql` union all `)

const hiddenRoms = (caller: AnyCaller) => caller === null || canSeeEverything(caller) ? null : hiddenIds(caller, 'roms')

/** Counts the ROMs of each virtual collection that a caller sees, by name. */
export async function countVirtual (reads: LongReads, caller: AnyCaller): Promise<VirtualCount[]> {
  const counts = await countValues(reads, COLUMNS, { caller, hidden: hiddenRoms(caller) })
  return counts.flatMap(({ name: column, value: name, roms }) => {
    const type = TYPES_BY_COLUMN.get(column)
    return type === undefined || roms < MEMBERS_MIN ? [] : [{ type, name, rom_count: roms }]
  })
}

/** Loads the ROMs that are hidden from a caller one by one. */
export async function selectHiddenRoms (reads: LongReads, caller: AnyCaller): Promise<Set<number>> {
  const hidden = hiddenRoms(caller)
  if (hidden === null) return new Set()
  const { rows } = await sql<{ entity_id: number }>`${hidden}`.execute(reads)
  return new Set(rows.map(({ entity_id: id }) => id))
}

/** A virtual collection with ids of some of its ROMs. */
export interface VirtualMembers<Ids> extends VirtualCollection { ids: Ids }

/** Loads the members of each collection, one type after the other. */
async function selectByType<Ids> (
  reads: LongReads, collections: readonly VirtualCollection[],
  select: (column: VirtualColumn, names: readonly string[]) => RawBuilder<{ name: string, ids: Ids }>
): Promise<VirtualMembers<Ids>[]> {
  const found: VirtualMembers<Ids>[] = []
  for (const [type, some] of Map.groupBy(collections, (one) => one.type)) {
    const { rows } = await select(VIRTUAL_TYPES[type], some.map(({ name }) => name)).execute(reads)
    found.push(...rows.map(({ name, ids }) => ({ type, name, ids })))
  }
  return found
}

/** Selects a value for each collection. @param toIds selects it from the rows `v` of `rom_values` that are members */
const selectForEach = <Ids>(
  reads: LongReads, collections: readonly VirtualCollection[], toIds: (isMember: RawBuilder<boolean>) => RawBuilder<Ids>
) => selectByType<Ids>(reads, collections, (column, names) => sql`
    select c.name, ${toIds(sql<boolean>`v.hashes @> array[${hashOfValue(sql`${column}::text`, sql`c.name`)}]`)} as ids from unnest(${names}::text[]) c (name)`)

const MEMBERS = sql`rom_values v join roms r on r.id = v.rom_id`

/** Searches the members of each collection by the index of values. */
export const searchMembers = (reads: LongReads, caller: AnyCaller, collections: readonly VirtualCollection[]) =>
  selectForEach<string>(reads, collections, (isMember) => sql<string>`(select coalesce(string_agg(v.rom_id::text, ','), '')
    from ${canSeeEverything(caller) ? sql`rom_values v` : MEMBERS} where ${isMember} and ${isRomVisible(caller)})`)

/** Reads all ROMs that a caller sees, once for each type. */
export const readMembers = (reads: LongReads, caller: AnyCaller, collections: readonly VirtualCollection[]) =>
  selectByType<string>(reads, collections, (column, names) => sql`
    select v.name, string_agg(r.id::text, ',') as ids from roms r cross join unnest(${sql.ref(`r.${column}`)}) v (name)
    where v.name = any(${names}::text[]) and ${isRomVisible(caller)} group by v.name`)

/** Loads the ids of all ROMs of these collections that a caller sees, separated by commas. */
export const selectMembers = (reads: LongReads, caller: AnyCaller, collections: readonly VirtualCount[]) =>
  (countMembers(collections) > SEARCHED_MEMBERS_MAX ? readMembers : searchMembers)(reads, caller, collections)

/** Loads the ids of some ROMs of these collections that have a cover and that a caller sees. */
export const selectCoverIds = (reads: LongReads, caller: AnyCaller, collections: readonly VirtualCollection[]) =>
  selectForEach<number[]>(reads, collections, (isMember) => sql<number[]>`array(select r.id
    from ${MEMBERS} where ${isMember} and ${HAS_COVER} and ${isRomVisible(caller)} limit ${COVERS_MAX})`)

/** Loads the ids of some ROMs with covers for each value, from the first ROMs that have one and that a caller sees. */
export async function sampleCoverIds (
  reads: LongReads, caller: AnyCaller
): Promise<{ found: VirtualMembers<number[]>[], isWhole: boolean }> {
  const { rows } = await sql<VirtualMembers<number[]> & { is_whole: boolean }>`
    with sample as materialized (
      select r.id, ${sql.join(COLUMNS.map((column) => sql.ref(`r.${column}`)))}
      from roms r where ${HAS_COVER} and ${isRomVisible(caller)} limit ${SAMPLE_ROMS})
    select v.type, v.name, (array_agg(s.id))[1:${COVERS_MAX}::int] as ids, (select count(*) < ${SAMPLE_ROMS} from sample) as is_whole
    from sample s cross join lateral (${selectValues('s')}) v group by v.type, v.name`.execute(reads)
  return { found: rows, isWhole: rows[0]?.is_whole ?? true }
}

export async function selectCoversOf (reads: LongReads, romIds: readonly number[]): Promise<CoverRow[]> {
  const { rows } = await sql<CoverRow>`select ${COVER} from roms r where r.id = any(${romIds}::int[])`.execute(reads)
  return rows
}

/** Loads the virtual collections of each of these ROMs that has a cover and that a caller sees. */
export async function selectCollectionsOf (
  reads: LongReads, caller: AnyCaller, romIds: readonly number[]
): Promise<VirtualMembers<number>[]> {
  const { rows } = await sql<VirtualMembers<number>>`select distinct v.type, v.name, r.id as ids
    from roms r cross join lateral (${selectValues('r')}) v
    where r.id = any(${romIds}::int[]) and ${HAS_COVER} and ${isRomVisible(caller)}`.execute(reads)
  return rows
}
