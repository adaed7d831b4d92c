import { setTimeout as sleep } from 'node:timers/promises'
import { apartFromRequest, outOfTime } from '../../core/database/request-time.ts'
import type { Moment, VersionKind } from './version-rows.ts'

/** How old something may be while a scan is storing what it finds, and how many times as old as it took to make. */
const SCAN_LAG_MS = 2_000
const SCAN_LAG_FACTOR = 10
/** Proxies give up after a minute, unless they are told otherwise. */
const WAIT_MAX_MS = 55_000

/** What is kept, or is being made. */
interface Entry<Value> {
  version: string
  scans: number
  /** When the moment was from which on it is right. */
  at: number
  /** How long it may lag behind a scan. */
  lagMs: number
  value: Value
}
interface CachedValue<Value> extends Entry<Value> { bytes: number }

export interface CacheOptions<Value> {
  maxBytes: number
  sizeOf (value: Value): number
}

/** Of which viewer, and of what; what it depends on besides the library. */
export interface CacheKey { viewer: string, of: unknown, kinds?: readonly VersionKind[] }

const idOf = ({ viewer: caller, of }: CacheKey) => JSON.stringify([caller, of])
const scansOf = ({ versions }: Moment) => versions.get('scans') ?? 0

function isGood (entry: Entry<unknown>, version: string, moment: Moment): boolean {
  // What was made of a later moment is right as well, whatever changed in between.
  if (entry.at > moment.at) return true
  return entry.version === version && (entry.scans === scansOf(moment) || moment.at - entry.at < entry.lagMs)
}

/** An entry takes so much beside its value, as measured. Without it, lists that find nothing would not count. */
const ENTRY_BYTES = 1_024

/** A scan goes on, and half of the time is over that this may be behind it. */
const isAgeing = (entry: Entry<unknown>, moment: Moment) =>
  entry.scans !== scansOf(moment) && (moment.at - entry.at) * 2 > entry.lagMs

/** Waits as long as anybody does: what is waited for goes on without it. */
async function inTime<Value> (value: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => { late.reject(outOfTime()) }, WAIT_MAX_MS)
  try {
    return await Promise.race([value, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Keeps what was worked out of the whole library until the library changes. Every worker keeps its own; the database
 * counts the changes, and whoever asks has read how far it has counted: what somebody changed is seen by the next
 * request, whichever worker answers it. While a scan stores ROMs the counter moves all the time. What the scan worker
 * wrote may therefore be seen two seconds late, or ten times what making the value anew took; it is made anew before
 * anybody has to wait for it. It is seen at once when the scan has ended, or when anybody changed anything.
 *
 * It is made once however many ask, and in nobody's name. To wait for it is no part of a request's time with the
 * database, of which it takes nothing meanwhile; a request that waited too long ends, and what it waited for is there
 * for the next one, however slow the machine.
 *
 * Nobody is given what was made for another viewer: the viewer is part of the key.
 */
export function createLibraryCache<Value> ({ maxBytes, sizeOf }: CacheOptions<Value>) {
  const entries = new Map<string, CachedValue<Value>>()
  const makings = new Map<string, Entry<Promise<Value>>>()
  /** The latest moment of those who wait for the next making. */
  const wanted = new Map<string, Moment>()
  let bytes = 0

  function drop (id: string): void {
    bytes -= entries.get(id)?.bytes ?? 0
    entries.delete(id)
  }

  /** The longest unused go first. */
  function store (id: string, entry: CachedValue<Value>): void {
    drop(id)
    entries.set(id, entry)
    bytes += entry.bytes
    for (const other of entries.keys()) {
      if (bytes <= maxBytes) return
      drop(other)
    }
  }

  function start (id: string, version: string, moment: Moment, work: () => Promise<Value>): Promise<Value> {
    const started = performance.now()
    const facts = { version, scans: scansOf(moment), at: moment.at }
    async function make (): Promise<Value> {
      try {
        const value = await work()
        const lagMs = Math.max(SCAN_LAG_MS, (performance.now() - started) * SCAN_LAG_FACTOR)
        store(id, { ...facts, lagMs, value, bytes: sizeOf(value) + id.length + ENTRY_BYTES })
        return value
      } finally {
        makings.delete(id)
      }
    }
    const value = apartFromRequest(make)
    makings.set(id, { ...facts, lagMs: SCAN_LAG_MS, value })
    // Whoever still waits for it is told.
    value.catch(() => {})
    return value
  }

  /** Notes the moment for whoever makes it next, and gives the latest one. */
  function want (id: string, moment: Moment): Moment {
    const other = wanted.get(id)
    const latest = other !== undefined && other.at > moment.at ? other : moment
    wanted.set(id, latest)
    return latest
  }

  /** What is kept, or else made: by a statement of its own limits, such as `app.longReads` runs. */
  async function get (moment: Moment, key: CacheKey, work: () => Promise<Value>): Promise<Value> {
    const id = idOf(key)
    const kinds: VersionKind[] = ['edits', ...key.kinds ?? []]
    const versionAt = ({ versions }: Moment) => kinds.map((kind) => versions.get(kind) ?? 0).join(' ')
    const version = versionAt(moment)
    for (;;) {
      const entry = entries.get(id)
      const making = makings.get(id)
      if (entry !== undefined && isGood(entry, version, moment)) {
        entries.delete(id)
        entries.set(id, entry)
        if (making === undefined && isAgeing(entry, moment)) void start(id, version, moment, work).catch(() => {})
        return entry.value
      }
      if (making === undefined) {
        const latest = want(id, moment)
        wanted.delete(id)
        return await inTime(start(id, versionAt(latest), latest, work))
      }
      const isEnough = isGood(making, version, moment)
      if (!isEnough) want(id, moment)
      const made = await inTime(making.value.then((value) => ({ value }), () => null))
      if (made !== null && isEnough) return made.value
    }
  }

  return {
    get,

    /** The same where it is there soon, else null: so long after its making began, however many ask meanwhile. */
    async getSoon (moment: Moment, key: CacheKey, work: () => Promise<Value>, waitMs: number): Promise<Value | null> {
      const value = get(moment, key, work)
      value.catch(() => {})
      const since = makings.get(idOf(key))?.at ?? moment.at
      return await Promise.race([value, sleep(Math.max(0, since + waitMs - performance.now()), null, { ref: false })])
    },

    bytes: (): number => bytes
  }
}
