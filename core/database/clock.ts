/** Differences below this are not corrected, because they are no larger than the error of their measurement. */
const CORRECTED_MIN_MS = 1_000
/** A measurement that took longer is ignored. */
const MEASUREMENT_MAX_MS = 500

/** Milliseconds by which the clock of this machine is ahead of that of the database. */
let aheadMs = 0

/**
 * Stores how far the clock of this machine is ahead of that of the database.
 *
 * @param measured milliseconds: this machine before and after a statement, and the database in that statement
 */
export function storeClockDifference ({ before, database, after }: Record<'before' | 'database' | 'after', number>): void {
  if (after - before > MEASUREMENT_MAX_MS) return
  const difference = (before + after) / 2 - database
  aheadMs = Math.abs(difference) < CORRECTED_MIN_MS ? 0 : difference
}

/**
 * Returns the milliseconds since 1970 by the clock of the database. All hosts store and compare times by it, because
 * their own clocks may differ.
 */
export const databaseNow = (): number => Date.now() - Math.round(aheadMs)

/** Returns the time by the clock of the database. */
export const databaseDate = (): Date => new Date(databaseNow())
