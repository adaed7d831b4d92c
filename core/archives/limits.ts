import type { ArchiveLimits } from './types.ts'

const MIB = 1024 ** 2
const SLOWEST_BYTES_PER_MS = 4 * MIB / 1000

export const DEFAULT_LIMITS: ArchiveLimits = {
  entries: 100_000,
  totalBytes: 64 * 1024 ** 3,
  ratio: 1000,
  ratioFreeBytes: 10 * MIB,
  timeoutMs: 60_000
}

/**
 * Returns milliseconds of a clock that all threads share. It stands still while the machine sleeps, and nobody can set
 * it: an archive must not exceed its time limit because the time of day jumped.
 */
export function readSteadyClock (): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1_000_000
}

/** An archive or compressed file whose content cannot be read; the message of the error becomes the warning. */
export class ArchiveError extends Error {
  override name = 'ArchiveError'
}

/** Thrown inside a worker when the caller cancelled the file. */
export class CancelledError extends Error {
  override name = 'CancelledError'
}

/** The connection of a running job to its pool: the pool cancels the job, and the job reports its deadline. */
export interface Watch {
  isCancelled (): boolean
  /** In milliseconds of {@link readSteadyClock}; 0 for none. */
  setDeadline (at: number): void
  /** Waits until no other thread holds an archive in memory. @throws CancelledError */
  reserveMemory (): void
}

/** A watch for a reader that no pool started: nothing cancels it but its own deadline. */
export const UNWATCHED: Watch = { isCancelled: () => false, setDeadline () {}, reserveMemory () {} }

/** Counts what one archive has cost so far and stops it at its limits. */
export class Budget {
  readonly limits: ArchiveLimits
  readonly #archiveBytes: number
  readonly #watch: Watch
  #deadline: number
  #entries = 0
  #produced = 0

  constructor (archiveBytes: number, limits: ArchiveLimits, watch: Watch) {
    this.limits = limits
    this.#archiveBytes = archiveBytes
    this.#watch = watch
    this.#deadline = readSteadyClock() + limits.timeoutMs + archiveBytes / SLOWEST_BYTES_PER_MS
    watch.setDeadline(this.#deadline)
  }

  /** Waits for a slot to use much memory; the wait does not count as reading time. @throws CancelledError */
  reserveMemory (): void {
    const asked = readSteadyClock()
    this.#watch.setDeadline(0)
    this.#watch.reserveMemory()
    this.#deadline += readSteadyClock() - asked
    this.#watch.setDeadline(this.#deadline)
  }

  /** Called when reading starts (again) from the beginning: time continues, all other counters are reset. */
  restart (): void {
    this.#entries = 0
    this.#produced = 0
  }

  /** @throws ArchiveError when there are too many entries. */
  addEntry (): void {
    this.#entries++
    if (this.#entries > this.limits.entries) {
      throw new ArchiveError(`more than ${this.limits.entries} entries`)
    }
  }

  /** @throws ArchiveError if too much was unpacked, in total or for the archive's size, or for too long. */
  addBytes (bytes: number): void {
    this.#produced += bytes
    this.assertSize(this.#produced)
    this.check()
  }

  /** Checks the unpacked size that an archive claims, before any of it is read. */
  assertSize (bytes: number): void {
    if (bytes > this.limits.totalBytes) {
      throw new ArchiveError(`unpacks to more than ${this.limits.totalBytes} bytes`)
    }
    if (bytes > this.limits.ratioFreeBytes && bytes > this.#archiveBytes * this.limits.ratio) {
      throw new ArchiveError(`unpacks to more than ${this.limits.ratio} times its size`)
    }
  }

  /** @throws CancelledError @throws ArchiveError when its time is up. */
  check (): void {
    if (this.#watch.isCancelled()) throw new CancelledError('hashing was cancelled')
    if (readSteadyClock() > this.#deadline) throw new ArchiveError(timeoutWarning(this.limits.timeoutMs))
  }
}

export function timeoutWarning (timeoutMs: number): string {
  return `not read within its time limit (${timeoutMs} ms plus 1 s per 4 MiB)`
}
