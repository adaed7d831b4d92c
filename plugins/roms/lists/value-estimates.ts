import type { LongReads } from '../../library/long-reads.ts'
import type { ListRomsQuery } from '../filters/list-query.ts'
import { COUNTED_COLUMNS, COUNTED_LISTS, type CountedColumn, countValues } from '../value-count-rows.ts'
import { VIRTUAL_TYPES, readVirtualId } from '../virtual-collections.ts'

/** Older estimates are read again. Only the choice of a statement depends on them, not its result. */
const REFRESH_MS = 60_000

type Counts = ReadonlyMap<CountedColumn, ReadonlyMap<string, number>>
/** A filter by values of a column. */
interface ValueFilter { column: CountedColumn, values: readonly string[], isAll: boolean }

const filterOf = (column: CountedColumn, values: readonly string[], logic: string): ValueFilter[] =>
  values.length === 0 || logic === 'none' ? [] : [{ column, values, isAll: logic === 'all' }]

/** Returns the filters by values that limit a list. */
function listFilters (query: ListRomsQuery): ValueFilter[] {
  const { platform_id: id, platform_ids: ids, virtual_collection_id: virtualId } = query
  const platforms = id === undefined ? ids : [...ids, id]
  const virtual = virtualId === undefined ? null : readVirtualId(virtualId)
  return [
    ...COUNTED_LISTS.filter((name) => name !== 'game_modes').flatMap((name) =>
      filterOf(name, query[name].filter((value) => value !== ''), query[`${name}_logic`])),
    ...filterOf('player_count', query.player_counts, query.player_counts_logic),
    ...filterOf('platform_id', platforms.map(String), 'any'),
    ...virtual === null ? [] : filterOf(VIRTUAL_TYPES[virtual.type], [virtual.name], 'any')
  ]
}

/** Estimates sizes of filtered lists by the stored counts of values, which are read in the background. */
export function createValueEstimates (reads: LongReads) {
  let counts: Counts | null = null
  let refreshAt = -Infinity

  async function read (): Promise<void> {
    const rows = await countValues(reads, COUNTED_COLUMNS, { caller: null, hidden: null })
    const columns = Map.groupBy(rows, ({ name }) => name)
    counts = new Map([...columns].map(([name, some]) => [name, new Map(some.map(({ value, roms }) => [value, roms]))]))
  }

  /** Reads the counts again if they are old. */
  function refresh (): void {
    if (performance.now() < refreshAt) return
    refreshAt = performance.now() + REFRESH_MS
    // Without counts, a list is read in the order of an index.
    read().catch(() => {})
  }

  return {
    refresh,

    /** Returns about the number of ROMs that a list has at most; infinity if unknown, or if it depends on siblings. */
    limitOf (query: ListRomsQuery): number {
      const filters = query.group_by_meta_id || query.duplicate !== undefined ? [] : listFilters(query)
      if (filters.length === 0) return Infinity
      refresh()
      const known = counts
      if (known === null) return Infinity
      return Math.min(...filters.map(({ column, values, isAll }) => {
        const sizes = values.map((value) => known.get(column)?.get(value) ?? Infinity)
        return isAll ? Math.min(...sizes) : sizes.reduce((sum, size) => sum + size, 0)
      }))
    }
  }
}
export type ValueEstimates = ReturnType<typeof createValueEstimates>
