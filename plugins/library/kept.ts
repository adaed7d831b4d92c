import type { Moment, VersionKind } from './version-rows.ts'

/** How old something may be while a scan is storing what it finds, and how many times as old as it took to make. */
const SCAN_LAG_MS = 2_000
const SCAN_LAG_FACTOR = 10

interface Entry<Value> {
  version: string
  scans: number
  /** When the moment was from which on it is right. */
  at: number
  /** How long it may lag behind a scan. */
  lagMs: number
  value: Promise<Value>
  bytes: number
}

export interface KeptOptions<Value> {
  maxBytes: number
  sizeOf (value: Value): number
}

/** Of which viewer, and of what; what it depends on besides the library. */
export interface KeptKey { viewer: string, of: unknown, kinds?: readonly VersionKind[] }

/**
 * Keeps what was worked out of the whole library until the library changes. Every worker keeps its own; the database
 * counts the changes, and whoever asks has read how far it has counted: what somebody changed is seen by the next
 * request, whichever worker answers it. While a scan stores ROMs the counter moves all the time. What the scan worker
 * wrote may therefore be seen two seconds late, or ten times what making the value anew took. It is seen at once when
 * the scan has ended, or when anybody changed anything.
 *
 * Nobody is given what was made for another viewer: the viewer is part of the key.
 */
export function createKept<Value> ({ maxBytes, sizeOf }: KeptOptions<Value>) {
  const entries = new Map<string, Entry<Value>>()
  let bytes = 0

  function drop (id: string, entry: Entry<Value>): void {
    if (entries.get(id) !== entry) return
    entries.delete(id)
    bytes -= entry.bytes
  }

  /** The longest unused go first. */
  function shrink (): void {
    for (const [id, entry] of entries) {
      if (bytes <= maxBytes) return
      drop(id, entry)
    }
  }

  function isGood (entry: Entry<Value>, version: string, { versions, at }: Moment): boolean {
    return entry.version === version && (entry.scans === (versions.get('scans') ?? 0) || at - entry.at < entry.lagMs)
  }

  async function make (id: string, version: string, moment: Moment, work: () => Promise<Value>): Promise<Value> {
    const started = performance.now()
    const entry: Entry<Value> = {
      version, scans: moment.versions.get('scans') ?? 0, at: moment.at, lagMs: SCAN_LAG_MS, value: work(), bytes: 0
    }
    const former = entries.get(id)
    if (former !== undefined) drop(id, former)
    entries.set(id, entry)
    try {
      const value = await entry.value
      entry.lagMs = Math.max(SCAN_LAG_MS, (performance.now() - started) * SCAN_LAG_FACTOR)
      if (entries.get(id) === entry) {
        entry.bytes = sizeOf(value) + id.length
        bytes += entry.bytes
        shrink()
      }
      return value
    } catch (err) {
      drop(id, entry)
      throw err
    }
  }

  return {
    /** What is kept, or else made. Several who want the same at once wait for the one who makes it. */
    async get (moment: Moment, { viewer, of, kinds = [] }: KeptKey, work: () => Promise<Value>): Promise<Value> {
      const id = JSON.stringify([viewer, of])
      const version = ['edits' as const, ...kinds].map((kind) => moment.versions.get(kind) ?? 0).join(' ')
      const entry = entries.get(id)
      if (entry === undefined || !isGood(entry, version, moment)) return await make(id, version, moment, work)
      entries.delete(id)
      entries.set(id, entry)
      try {
        return await entry.value
      } catch {
        // That request was ended; this one has time of its own.
        return await make(id, version, moment, work)
      }
    },

    bytes: (): number => bytes
  }
}
