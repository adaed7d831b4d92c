import type { Db } from '../../../core/database/db.ts'
import { type DatabaseClock, storeCheckTime, readClock } from './janitor-rows.ts'

/** Grace period after a start, in which a wrong setup or a wrong move of the server becomes visible. */
const FIRST_HOUR_MS = 3_600_000
/** Longest gap between two daily checks. A longer one means that the server was off or that its clock was changed. */
const GAP_MAX_MS = 2 * 86_400_000
/** Maximum difference between the clocks of this machine and of the database. */
const SKEW_MAX_MS = 3_600_000

/**
 * Returns the time until the check that follows the first hour, in milliseconds; null if one ran since then.
 *
 * @param clock null if the database does not know this worker
 */
export function findLaterCheck (clock: DatabaseClock | null): number | null {
  if (clock === null) return FIRST_HOUR_MS
  const { running, since_look: sinceCheck } = clock
  if (running < FIRST_HOUR_MS) return FIRST_HOUR_MS - running
  return sinceCheck === null || sinceCheck > running - FIRST_HOUR_MS ? 0 : null
}

/** Returns a reason against deleting files now, or null if there is none. */
export function findObjectionIn (
  { now, running, since_look: sinceCheck }: DatabaseClock, known: number, unknown: number
): string | null {
  if (running < FIRST_HOUR_MS) return 'the scan worker started less than an hour ago'
  if (Math.abs(Date.now() - now) > SKEW_MAX_MS) return 'the clocks of this machine and of the database differ by more than an hour'
  if (sinceCheck === null || sinceCheck < 0 || sinceCheck > GAP_MAX_MS) {
    return 'the clock was changed, or no cleanup ran for two days; the next run continues'
  }
  if (unknown > known) {
    return `the database has rows for ${known} of ${known + unknown} files, so it may belong to other files; restore ` +
      'the right database, or move the other files out of data/assets/users'
  }
  return null
}

/**
 * Returns a reason against deleting files now, or null if there is none. Also stores the time of this check.
 *
 * @param known number of files that a row names
 * @param unknown number of files that no row names
 */
export async function findObjection (
  db: Db, workerId: string, known: number, unknown: number
): Promise<string | null> {
  const clock = await readClock(db, workerId)
  await storeCheckTime(db)
  return clock === null ? 'the database has no row for this worker' : findObjectionIn(clock, known, unknown)
}
