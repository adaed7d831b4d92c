import { setTimeout as sleep } from 'node:timers/promises'
import { outsideRequestTime, outOfTimeError } from '../../core/database/request-time.ts'
import { type CachedPart, createLruCache } from '../../core/lru-cache.ts'
import type { VersionSnapshot, VersionKind } from './version-rows.ts'

/**
 * Limits of the lag of a value behind a running scan: a time, and a multiple of the time of a computation, which is the
 * shorter one of the last two.
 */
const SCAN_LAG_MS = 100
const SCAN_LAG_FACTOR = 10
/** Proxies time out after a minute by default. */
const WAIT_MAX_MS = 55_000

/** A cached value, or one that is being computed. */
interface Entry<Value> {
  version: string
  scans: number
  /** The moment from which on the value is correct. */
  at: number
  /** The maximum lag of the value behind a running scan. */
  lagMs: number
  value: Value
}

interface CachedEntry<Value> extends Entry<Value> {
  /** The time of its computation in milliseconds. */
  tookMs: number
}

/** Computes a value. @param former the value before the last changes, if it is still cached */
type Work<Value> = (former: Value | null) => Promise<Value>

export interface CacheOptions<Value> {
  maxBytes: number
  /** Returns the bytes of a value, without its parts. */
  sizeOf (value: Value): number
  /** Returns the parts that values may share, which count once. */
  partsOf? (value: Value): readonly CachedPart[]
}

/** The caller and the question; and what the value depends on besides the library. */
export interface CacheKey { caller: string, of: unknown, kinds?: readonly VersionKind[] }

const idOf = ({ caller, of }: CacheKey) => JSON.stringify([caller, of])
const versionOf = ({ kinds = [] }: CacheKey, { versions }: VersionSnapshot) =>
  ['edits' as const, ...kinds].map((kind) => versions.get(kind) ?? 0).join(' ')
const scansOf = ({ versions }: VersionSnapshot) => versions.get('scans') ?? 0

function isValid (entry: Entry<unknown>, version: string, moment: VersionSnapshot): boolean {
  // A value of a later moment is correct as well, whatever changed in between.
  if (entry.at > moment.at) return true
  return entry.version === version && (entry.scans === scansOf(moment) || moment.at - entry.at < entry.lagMs)
}

/** The memory of an entry besides its value, as measured. Without this constant, empty lists would not count. */
const ENTRY_BYTES = 1_024

/** True if a scan is running and half of the allowed lag is over. */
const isAgeing = (entry: Entry<unknown>, moment: VersionSnapshot) =>
  entry.scans !== scansOf(moment) && (moment.at - entry.at) * 2 > entry.lagMs

/** Waits for a value up to the time limit. The computation continues after the limit. */
async function inTime<Value> (value: Promise<Value>): Promise<Value> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => { timeout.reject(outOfTimeError()) }, WAIT_MAX_MS)
  try {
    return await Promise.race([value, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Caches values computed from the whole library until the library changes. Each worker has its own cache. The database
 * counts the changes, and each caller has read the counters. The next request therefore sees every change by a person,
 * in every worker. While a scan stores ROMs, the counter moves all the time. Writes of the scan worker may therefore
 * appear a tenth of a second late, or ten times the time of a computation. A value is recomputed before anybody has to
 * wait for it. The value is current at once when the scan has ended, or when a person changed anything.
 *
 * All callers share one computation, which runs outside of any request. Waiting for it does not count against the
 * database time of a request, and uses no connection. A request that waits too long fails, and the next request finds
 * the value, however slow the machine.
 *
 * No caller gets a value computed for another caller, because the caller is part of the key.
 */
export function createLibraryCache<Value> ({ maxBytes, sizeOf, partsOf = () => [] }: CacheOptions<Value>) {
  const entries = createLruCache<string, CachedEntry<Value>>({
    max: maxBytes,
    weightOf: ({ value }, id) => sizeOf(value) + id.length + ENTRY_BYTES,
    partsOf: ({ value }) => partsOf(value)
  })
  const computations = new Map<string, Entry<Promise<Value>>>()
  /** The latest moment among the callers that wait for the next computation. */
  const latestMoments = new Map<string, VersionSnapshot>()

  function start (id: string, version: string, moment: VersionSnapshot, work: Work<Value>): Promise<Value> {
    const started = performance.now()
    const former = entries.get(id)
    const facts = { version, scans: scansOf(moment), at: moment.at }
    async function compute (): Promise<Value> {
      try {
        const value = await work(former?.value ?? null)
        const tookMs = performance.now() - started
        // One long computation is often the first one, or follows many changes. The next one then is much shorter.
        const lagMs = Math.max(SCAN_LAG_MS, Math.min(tookMs, former?.tookMs ?? 0) * SCAN_LAG_FACTOR)
        entries.set(id, { ...facts, tookMs, lagMs, value })
        return value
      } finally {
        computations.delete(id)
      }
    }
    const value = outsideRequestTime(compute)
    computations.set(id, { ...facts, lagMs: SCAN_LAG_MS, value })
    // Waiting callers handle the rejection.
    value.catch(() => {})
    return value
  }

  /** Records a moment for the next computation, and returns the latest one. */
  function recordMoment (id: string, moment: VersionSnapshot): VersionSnapshot {
    const waiting = latestMoments.get(id)
    const latest = waiting !== undefined && waiting.at > moment.at ? waiting : moment
    latestMoments.set(id, latest)
    return latest
  }

  /** Returns the cached value, or computes it by a statement with its own limits, such as those of `app.longReads`. */
  async function get (moment: VersionSnapshot, key: CacheKey, work: Work<Value>): Promise<Value> {
    const id = idOf(key)
    const version = versionOf(key, moment)
    for (;;) {
      const entry = entries.get(id)
      const computation = computations.get(id)
      if (entry !== undefined && isValid(entry, version, moment)) {
        if (computation === undefined && isAgeing(entry, moment)) void start(id, version, moment, work).catch(() => {})
        return entry.value
      }
      if (computation === undefined) {
        const latest = recordMoment(id, moment)
        latestMoments.delete(id)
        return await inTime(start(id, versionOf(key, latest), latest, work))
      }
      const isEnough = isValid(computation, version, moment)
      if (!isEnough) recordMoment(id, moment)
      const result = await inTime(computation.value.then((value) => ({ value }), () => null))
      if (result !== null && isEnough) return result.value
    }
  }

  return {
    get,

    /** Returns the cached value if it is still correct, else null. */
    find (moment: VersionSnapshot, key: CacheKey): Value | null {
      const entry = entries.get(idOf(key))
      return entry !== undefined && isValid(entry, versionOf(key, moment), moment) ? entry.value : null
    },

    /** Returns the value that is cached, although it may be out of date; null if there is none. */
    findFormer: (key: CacheKey): Value | null => entries.get(idOf(key))?.value ?? null,

    /**
     * Returns the value if available soon, else null. The time counts from the start of its computation, for all
     * callers.
     */
    async getSoon (
      moment: VersionSnapshot, key: CacheKey, work: Work<Value>, waitMs: number
    ): Promise<Value | null> {
      const value = get(moment, key, work)
      value.catch(() => {})
      const since = computations.get(idOf(key))?.at ?? moment.at
      return await Promise.race([value, sleep(Math.max(0, since + waitMs - performance.now()), null, { ref: false })])
    },

    bytes: entries.weight
  }
}
