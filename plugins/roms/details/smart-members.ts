import { createLruCache } from '../../../core/lru-cache.ts'
import { type CacheKey, createLibraryCache } from '../../library-versions/library-cache.ts'
import type { VersionKind, VersionSnapshot } from '../../library-versions/version-rows.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { type AnyCaller, callerKey } from '../../platforms/visibility.ts'
import type { RomExtensions } from '../extensions.ts'
import type { Criteria } from '../filters/criteria.ts'
import { selectSortedIds } from '../lists/list-index-rows.ts'
import { readFilter } from '../lists/query-conditions.ts'

/** Limit per worker: four collections of a million ROMs, or thousands of usual ones. */
const MAX_BYTES = 16 * 1024 ** 2
/** Collections for which the last question is remembered. */
const ASKED_MAX = 1_000
/** The library must be unchanged for this time, because each change makes a collection that was read stale. */
const UNCHANGED_MS = 1_000

/** A filter may use all of them. */
const KINDS: VersionKind[] = ['shown', 'marks', 'assets', 'collections']

interface SmartCollection { id: number, criteria: Criteria }

/** True if ascending numbers contain a number. */
function contains (numbers: Int32Array, wanted: number): boolean {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1
    else high = middle
  }
  return numbers[low] === wanted
}

/**
 * Caches the ROMs of a caller's own smart collections, because a page about one ROM names the collections that contain
 * it. A collection is read whole when it is asked for again and nothing has changed for a second; until then the caller
 * of this cache asks about the one ROM.
 */
export function createSmartMembers (reads: LongReads, extensions: RomExtensions) {
  const members = createLibraryCache<Int32Array>({ maxBytes: MAX_BYTES, sizeOf: ({ byteLength }) => byteLength })
  const asked = createLruCache<string, { version: string, since: number }>({ max: ASKED_MAX })

  function isUnchanged ({ of }: CacheKey, { versions, at }: VersionSnapshot): boolean {
    const [key, version] = [JSON.stringify(of), JSON.stringify([...versions])]
    const last = asked.get(key)
    if (last?.version === version) return at - last.since >= UNCHANGED_MS
    asked.set(key, { version, since: at })
    return false
  }

  return {
    /** Returns true if the collection contains the ROM; null if that is not cached. */
    find (
      caller: AnyCaller, versions: VersionSnapshot, { id, criteria }: SmartCollection, romId: number
    ): boolean | null {
      const key: CacheKey = { caller: callerKey(caller), of: [id, criteria], kinds: KINDS }
      const ids = members.find(versions, key)
      if (ids !== null) return contains(ids, romId)
      if (isUnchanged(key, versions)) {
        const condition = readFilter(extensions, criteria).condition(caller, false)
        const read = () => selectSortedIds(reads, caller?.id ?? null, condition)
        members.get(versions, key, read).catch(() => { /* the next question asks about its ROM, and tries again */ })
      }
      return null
    }
  }
}
export type SmartMembers = ReturnType<typeof createSmartMembers>
