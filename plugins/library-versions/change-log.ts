import type { QueryExecutorProvider } from 'kysely'
import { SNAPSHOT_AGE_MAX_MS, selectChangedIds, selectSnapshot } from './change-rows.ts'
import { type CacheKey, createLibraryCache } from './library-cache.ts'
import type { VersionSnapshot } from './version-rows.ts'

/** Some 2 MB per worker. Of more changed ROMs, all count as changed. */
const IDS_MAX = 20_000
const KEY: CacheKey = { caller: '', of: 'changes' }

/**
 * Follows the log of changed ROMs, so that a value about one ROM can be used while other ROMs change. Reads the log at
 * most once for each version of the library, whoever asks. A position counts these readings.
 *
 * @param handle returns a handle on the database
 */
export function createChangeLog (handle: () => QueryExecutorProvider, idsMax = IDS_MAX) {
  const positions = createLibraryCache<number>({ maxBytes: Infinity, sizeOf: () => 0 })
  /** The position at which each ROM changed last. */
  const changedAt = new Map<number, number>()
  /** `at` is the time by the clock of `Date.now`, which goes on while the machine sleeps. */
  let last: { snapshot: string, at: number } | null = null
  let position = 0
  /** The first position since which all changes are known. */
  let start = 0

  function restart (): void {
    changedAt.clear()
    start = position
  }

  async function read (): Promise<number> {
    const at = Date.now()
    const former = last !== null && at - last.at < SNAPSHOT_AGE_MAX_MS ? last.snapshot : null
    const { ids, snapshot } = former === null
      ? { ids: null, snapshot: await selectSnapshot(handle()) }
      : await selectChangedIds(handle(), former)
    last = { snapshot, at }
    position++
    for (const id of ids ?? []) changedAt.set(id, position)
    if (ids === null || changedAt.size > idsMax) restart()
    return position
  }

  return {
    /**
     * Reads all changes up to a moment.
     *
     * @returns the position. What is read from the database later contains all changes up to it
     */
    follow: (moment: VersionSnapshot): Promise<number> => positions.get(moment, KEY, read),

    /** True unless a ROM is the same at the position that was followed last as at a former one. */
    mayHaveChanged: (id: number, since: number): boolean => since < start || (changedAt.get(id) ?? 0) > since
  }
}
export type ChangeLog = ReturnType<typeof createChangeLog>
