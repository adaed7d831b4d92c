import { createLruCache } from '../../../core/lru-cache.ts'
import type { ChangeLog } from '../../library-versions/change-log.ts'
import { type CacheKey, createLibraryCache } from '../../library-versions/library-cache.ts'
import type { VersionKind, VersionSnapshot } from '../../library-versions/version-rows.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { type AnyCaller, callerKey } from '../../platforms/visibility.ts'
import type { RomExtensions } from '../extensions.ts'
import type { Criteria } from '../filters/criteria.ts'
import { containsHash } from '../filters/search-conditions.ts'
import { kindsOf } from '../lists/cached-list.ts'
import { selectSortedIds } from '../lists/list-index-rows.ts'
import { readFilter } from '../lists/query-conditions.ts'

/** Limit per worker: four collections of a million ROMs, or thousands of usual ones. */
const MAX_BYTES = 16 * 1024 ** 2
/** Collections for which the last question is remembered. */
const ASKED_MAX = 1_000
/** The library must be unchanged for this time, because each change makes the ROMs that it changed unknown. */
const UNCHANGED_MS = 1_000

interface SmartCollection { id: number, criteria: Criteria }

interface Members {
  /** The ids of all ROMs of the collection, ascending. */
  ids: Int32Array
  /** The change counters of what the filter uses besides the library. */
  version: string
  /** The position of the log of changes, before the members were read. */
  position: number
}

/** The last question for a collection. */
interface Asked {
  kinds: VersionKind[]
  /** True if the log of changes names every ROM that enters or leaves the collection. */
  isLogged: boolean
  /** The change counters, and since when they are the same. */
  version: string
  since: number
}

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

const versionOf = (kinds: readonly VersionKind[], { versions }: VersionSnapshot) =>
  kinds.map((kind) => versions.get(kind) ?? 0).join(' ')

function createAsked (extensions: RomExtensions, criteria: Criteria): Asked {
  const { query, order } = readFilter(extensions, criteria)
  const isLogged = query.duplicate === undefined && !containsHash(query.search_term)
  return { kinds: kindsOf(query, order), isLogged, version: '', since: 0 }
}

/**
 * True if a collection is worth reading whole. It must be asked for again, and its library be unchanged for a while.
 *
 * @param isLasting true if changes do not matter, because it was never read and the log of changes keeps it usable
 */
function isWorthReading (last: Asked, { versions, at }: VersionSnapshot, isLasting: boolean): boolean {
  if (isLasting && last.version !== '') return true
  const version = JSON.stringify([...versions])
  if (last.version === version) return at - last.since >= UNCHANGED_MS
  last.version = version
  last.since = at
  return false
}

interface SmartMembersParts { reads: LongReads, changes: ChangeLog, extensions: RomExtensions }

/**
 * Caches the ROMs of a caller's own smart collections, because a page about one ROM names the collections that contain
 * it. A collection is read whole when it is asked for again; before, the caller of this cache asks about the one ROM.
 * A collection that was read still answers for all ROMs that did not change, and is read again when nothing has changed
 * for a second.
 */
export function createSmartMembers ({ reads, changes, extensions }: SmartMembersParts) {
  const members = createLibraryCache<Members>({ maxBytes: MAX_BYTES, sizeOf: ({ ids }) => ids.byteLength })
  const asked = createLruCache<string, Asked>({ max: ASKED_MAX })

  function findAsked ({ id, criteria }: SmartCollection): Asked {
    const name = JSON.stringify([id, criteria])
    const last = asked.get(name)
    if (last !== undefined) return last
    const first = createAsked(extensions, criteria)
    asked.set(name, first)
    return first
  }

  async function read (
    caller: AnyCaller, moment: VersionSnapshot, { criteria }: SmartCollection, version: string
  ): Promise<Members> {
    const position = await changes.follow(moment)
    const condition = readFilter(extensions, criteria).condition(caller, false)
    return { ids: await selectSortedIds(reads, caller?.id ?? null, condition), version, position }
  }

  /** True if former members are correct for a ROM, although other ROMs changed. */
  async function isCorrectFor (
    { version, position }: Members, current: string, moment: VersionSnapshot, romId: number
  ): Promise<boolean> {
    if (version !== current) return false
    try {
      await changes.follow(moment)
    } catch {
      return false
    }
    return !changes.mayHaveChanged(romId, position)
  }

  return {
    /** Returns true if the collection contains the ROM; null if that is not known. */
    async find (
      caller: AnyCaller, moment: VersionSnapshot, collection: SmartCollection, romId: number
    ): Promise<boolean | null> {
      const last = findAsked(collection)
      const { kinds, isLogged } = last
      const key: CacheKey = { caller: callerKey(caller), of: [collection.id, collection.criteria], kinds }
      const current = members.find(moment, key)
      if (current !== null) return contains(current.ids, romId)
      const version = versionOf(kinds, moment)
      const former = members.findFormer(key)
      if (isWorthReading(last, moment, isLogged && former === null)) {
        members.get(moment, key, () => read(caller, moment, collection, version))
          .catch(() => { /* the next question asks about its ROM, and tries again */ })
      }
      const isCorrect = isLogged && former !== null && await isCorrectFor(former, version, moment, romId)
      return isCorrect ? contains(former.ids, romId) : null
    }
  }
}
export type SmartMembers = ReturnType<typeof createSmartMembers>
