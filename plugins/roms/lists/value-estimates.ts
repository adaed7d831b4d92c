import type { LongReads } from '../../library/long-reads.ts'
import type { ListRomsQuery } from '../filters/list-query.ts'
import { type ValueFilter, readAllValueFilters } from '../filters/value-filters.ts'
import { COUNTED_COLUMNS, type CountedColumn, countValues } from '../value-count-rows.ts'

/** Older estimates are read again. Only the choice of a statement depends on them, not its result. */
const REFRESH_MS = 60_000

type Counts = ReadonlyMap<CountedColumn, ReadonlyMap<string, number>>

/** Returns the filters by values that limit a list. */
function limitsOf (query: ListRomsQuery): ValueFilter[] {
  const { platform_id: id, platform_ids: ids } = query
  const platforms = id === undefined ? ids : [...ids, id]
  return [
    ...readAllValueFilters(query).filter(({ logic }) => logic !== 'none'),
    ...platforms.length === 0 ? [] : [{ column: 'platform_id', values: platforms.map(String), logic: 'any' } as const]
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
      const filters = query.group_by_meta_id || query.duplicate !== undefined ? [] : limitsOf(query)
      if (filters.length === 0) return Infinity
      refresh()
      const known = counts
      if (known === null) return Infinity
      return Math.min(...filters.map(({ column, values, logic }) => {
        const sizes = values.map((value) => known.get(column)?.get(value) ?? Infinity)
        return logic === 'all' ? Math.min(...sizes) : sizes.reduce((sum, size) => sum + size, 0)
      }))
    }
  }
}
export type ValueEstimates = ReturnType<typeof createValueEstimates>
