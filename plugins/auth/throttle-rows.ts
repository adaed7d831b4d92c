import type { Db } from '../../core/database/db.ts'
import { ApiError } from '../../core/errors.ts'
import { inTransaction } from '../../core/database/transaction.ts'

/** The number of tries under one key before a wait, and the wait. */
export interface Limit {
  key: string
  /** Number of tries without a wait. */
  freeAttempts: number
  /** Seconds without a try after which a key is deleted. */
  forgetSeconds: number
  /** Seconds to wait after the first try beyond the free ones; each further try doubles them. */
  waitSeconds: number
  /** The longest wait, in seconds. */
  waitMaxSeconds: number
}

/** A number of tries in a period, whatever their results. */
export interface Quota {
  key: string
  max: number
  seconds: number
  /** True if every try restarts the period; else the period starts with the first try. */
  restarts?: boolean
}

interface ThrottleRow { key: string, count: number, wait_seconds: number | null, idle_seconds: number }

const READ = `select key, count, extract(epoch from blocked_until - now())::float8 as wait_seconds,
  extract(epoch from now() - updated_at)::float8 as idle_seconds from throttles where key = any($1) order by key for update`
const WRITE = `update throttles set count = $2, updated_at = now(),
  blocked_until = case when $3::float8 is null then null else now() + make_interval(secs => $3::float8) end where key = $1`

/** In the row of a quota, `blocked_until` is the end of its period. */
const COUNT_USE = `insert into throttles as t (key, count, blocked_until) values ($1, 1, now() + make_interval(secs => $2))
  on conflict (key) do update set updated_at = now(),
    count = case when t.blocked_until > now() then t.count + 1 else 1 end,
    blocked_until = case when t.blocked_until > now() and not $3 then t.blocked_until else excluded.blocked_until end
  returning count, extract(epoch from blocked_until - now())::float8 as wait_seconds`

const READ_RECENT = `select key, count, greatest(0, coalesce(extract(epoch from blocked_until - now()), 0))::float8 as wait_seconds
  from throttles where key = any($1) and updated_at > now() - make_interval(secs => $2)`
const SUBTRACT = `with gone as (delete from throttles where key = $1 returning count)
  update throttles set count = greatest(0, throttles.count - gone.count) from gone where key = $2`

const waitAfter = (count: number, limit: Limit) =>
  count < limit.freeAttempts
    ? null
    : Math.min(limit.waitMaxSeconds, limit.waitSeconds * 2 ** Math.min(count - limit.freeAttempts, 20))

export function tooManyRequests (wait: number): ApiError {
  // The column stores milliseconds; a smaller rest is a rounding error.
  const seconds = Math.max(1, Math.ceil(Math.floor(wait * 1_000) / 1_000))
  return new ApiError('TOO_MANY_REQUESTS', `Too many attempts; try again in ${seconds} s`, { retryAfterSeconds: seconds })
}

/** The tries of a key, and the seconds that it still has to wait. */
export interface Attempts { count: number, wait_seconds: number }

/** Reads the rows of some keys and locks them until the transaction ends. */
async function lock (tx: Db, limits: readonly Limit[]): Promise<ThrottleRow[]> {
  const keys = limits.map((limit) => limit.key)
  await tx.query('insert into throttles (key) select unnest($1::text[]) on conflict do nothing', [keys.toSorted()])
  return (await tx.query<ThrottleRow>(READ, [keys])).rows
}

/** @returns the seconds to wait from now on */
async function add (tx: Db, limits: readonly Limit[], rows: readonly ThrottleRow[]): Promise<number> {
  let longest = 0
  for (const row of rows) {
    const limit = limits.find(({ key }) => key === row.key)
    if (limit === undefined) continue
    const attempts = row.idle_seconds > limit.forgetSeconds ? 1 : row.count + 1
    const wait = waitAfter(attempts, limit)
    await tx.query(WRITE, [row.key, attempts, wait])
    longest = Math.max(longest, wait ?? 0)
  }
  return longest
}

/** Counts tries by key, across all processes. */
export function createThrottle (db: Db) {
  return {
    /**
     * Counts a try before its result is known, so that a hundred concurrent tries count as a hundred. `clear` undoes a
     * successful try. @throws ApiError TOO_MANY_REQUESTS; then nothing is counted.
     */
    async countAttempt (limits: readonly Limit[]): Promise<void> {
      const wait = await inTransaction(db, async (tx) => {
        const rows = await lock(tx, limits)
        const remainingSeconds = Math.max(0, ...rows.map((row) => row.wait_seconds ?? 0))
        if (remainingSeconds === 0) await add(tx, limits, rows)
        return remainingSeconds
      })
      if (wait > 0) throw tooManyRequests(wait)
    },

    /** Counts a failure. @returns the seconds to wait from now on; 0 while tries are free */
    async countFailure (limits: readonly Limit[]): Promise<number> {
      return await inTransaction(db, async (tx) => await add(tx, limits, await lock(tx, limits)))
    },

    /** Returns the tries of some keys; skips those without a try in the last `seconds`. */
    async readAttempts (keys: readonly string[], seconds: number): Promise<Map<string, Attempts>> {
      const { rows } = await db.query<Attempts & { key: string }>(READ_RECENT, [keys, seconds])
      return new Map(rows.map(({ key, ...attempts }) => [key, attempts]))
    },

    /** Deletes the tries of one key and subtracts them from another key, which counted them too. */
    async subtract (key: string, totalKey: string): Promise<void> {
      await db.query(SUBTRACT, [key, totalKey])
    },

    /** Counts a try. @throws ApiError TOO_MANY_REQUESTS if the quota is used up. */
    async countUse ({ key, max, seconds, restarts = false }: Quota): Promise<void> {
      const { rows: [row] } = await db.query<{ count: number, wait_seconds: number }>(
        COUNT_USE, [key, seconds, restarts]
      )
      if (row !== undefined && row.count > max) throw tooManyRequests(row.wait_seconds)
    },

    /** Deletes the tries of some keys. */
    async clear (keys: readonly string[]): Promise<void> {
      await db.query('delete from throttles where key = any($1)', [keys])
    },

    /** Deletes rows that are older than a day. */
    async deleteOld (): Promise<void> {
      await db.query("delete from throttles where updated_at < now() - interval '1 day'")
    }
  }
}
export type Throttle = ReturnType<typeof createThrottle>
