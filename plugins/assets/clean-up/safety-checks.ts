import type pg from 'pg'
import { type Clock, noteLook, readClock } from './janitor-rows.ts'

/** A server that was just set up or moved shows what is wrong with it within this time. */
export const FIRST_HOUR_MS = 3_600_000
/** The clean-up looks every day; a longer gap is a server that was off, or a clock that was set. */
const GAP_MAX_MS = 2 * 86_400_000
/** How far this machine's clock may be from the database's. */
const SKEW_MAX_MS = 3_600_000

function judge ({ now, running, since_look: sinceLook }: Clock, known: number, unknown: number): string | null {
  if (running < FIRST_HOUR_MS) return 'the scan worker started less than an hour ago'
  if (Math.abs(Date.now() - now) > SKEW_MAX_MS) return 'the clocks of this machine and of the database differ by more than an hour'
  if (sinceLook === null || sinceLook < 0 || sinceLook > GAP_MAX_MS) {
    return 'the clock was set, or nobody looked for two days; the next run is not held up by that'
  }
  if (unknown > known) {
    return `the database knows ${known} of ${known + unknown} files, so it may be another one's; restore ` +
      'the right one, or move the others out of data/assets/users by hand'
  }
  return null
}

/**
 * Why nothing may be removed now; null when nothing speaks against it. Also notes that somebody looked.
 *
 * @param known files that a row names
 * @param unknown files that none does
 */
export async function findDoubt (
  pool: pg.Pool, workerId: string, known: number, unknown: number
): Promise<string | null> {
  const clock = await readClock(pool, workerId)
  await noteLook(pool)
  return clock === null ? 'this worker is not known to the database' : judge(clock, known, unknown)
}
