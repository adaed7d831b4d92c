import { type CacheKey, createLibraryCache } from '../../library-versions/library-cache.ts'
import type { VersionSnapshot } from '../../library-versions/version-rows.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { callerKey } from '../../platforms/visibility.ts'
import type { IdFilter, IdQuery } from '../filters/id-queries.ts'
import { type IdSet, bytesOf, intersect, toIdSet, unite } from './id-set.ts'
import { selectIds } from './list-index-rows.ts'
import type { PartRead } from './update-list.ts'

/** Sixty sets of a million ids. */
const SETS_MAX_BYTES = 8 * 1024 ** 2

/** Ids, and when they were read. */
export interface SetRead extends PartRead { set: IdSet }

const keyOf = (name: string): CacheKey => ({ caller: callerKey(null), of: name })

/** Returns the ids that a filter selects, of those that its queries returned. */
function combine (reads: readonly SetRead[], { isOfAll = false }: IdFilter): SetRead {
  return {
    set: reads.map(({ set }) => set).reduce(isOfAll ? intersect : unite),
    snapshots: [...new Set(reads.flatMap(({ snapshots }) => snapshots))],
    at: Math.min(...reads.map(({ at }) => at))
  }
}

/** Creates the part of a worker that reads the ids of filters, and keeps those that have a name: a bit for each ROM. */
export function createIdSets (longReads: LongReads) {
  const sets = createLibraryCache<SetRead>({ maxBytes: SETS_MAX_BYTES, sizeOf: ({ set }) => bytesOf(set) })

  async function select ({ ids }: IdQuery): Promise<SetRead> {
    const at = Date.now()
    const found = await selectIds(longReads, ids)
    return { set: toIdSet(found.ids), snapshots: [found.snapshot], at }
  }

  const read = async (versions: VersionSnapshot, query: IdQuery): Promise<SetRead> =>
    query.name === null ? await select(query) : await sets.get(versions, keyOf(query.name), () => select(query))

  /** Reads the ids of queries, one after the other, because other callers wait for the same few connections. */
  async function readAll (versions: VersionSnapshot, queries: readonly IdQuery[]): Promise<SetRead[]> {
    const reads: SetRead[] = []
    for (const query of queries) reads.push(await read(versions, query))
    return reads
  }

  return {
    readAll,

    /** Reads the ids of a filter. */
    read: async (versions: VersionSnapshot, filter: IdFilter): Promise<SetRead> =>
      combine(await readAll(versions, filter.queries), filter),

    /** Returns the ids of a filter before some changes, null if they are not kept. */
    findFormer (filter: IdFilter): SetRead | null {
      const reads = filter.queries.map(({ name }) => name === null ? null : sets.findFormer(keyOf(name)))
      return reads.every((one) => one !== null) ? combine(reads, filter) : null
    }
  }
}
export type IdSets = ReturnType<typeof createIdSets>
