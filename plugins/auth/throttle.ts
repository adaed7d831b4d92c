import type pg from 'pg'
import { ApiError } from '../../core/errors.ts'

/** How often something may be tried under one key before it has to wait. */
export interface Limit {
  key: string
  /** Tries that are free. */
  free: number
  /** Seconds until a key without tries is forgotten. */
  forgetSeconds: number
  /** Seconds to wait after the first try beyond the free ones; doubles with each further one. */
  waitSeconds: number
  /** The longest wait, in seconds. */
  waitMaxSeconds: number
}

interface Row { key: string, count: number, wait_seconds: number | null, idle_seconds: number }

const READ = `select key, count, extract(epoch from blocked_until - now())::float8 as wait_seconds,
  extract(epoch from now() - updated_at)::float8 as idle_seconds from throttles where key = any($1) order by key for update`
const WRITE = `update throttles set count = $2, updated_at = now(),
  blocked_until = case when $3::float8 is null then null else now() + make_interval(secs => $3::float8) end where key = $1`

const waitAfter = (count: number, limit: Limit) =>
  count < limit.free ? null : Math.min(limit.waitMaxSeconds, limit.waitSeconds * 2 ** Math.min(count - limit.free, 20))

/**
 * Counts tries by key, for all processes together. A try counts before its outcome is known, so that a hundred at once
 * are no more than a hundred in a row; one that succeeds is taken back with `forget`.
 */
export function createThrottle (pool: pg.Pool) {
  async function count (client: pg.PoolClient, limits: readonly Limit[]): Promise<number> {
    const keys = limits.map((limit) => limit.key)
    await client.query('insert into throttles (key) select unnest($1::text[]) on conflict do nothing', [keys.toSorted()])
    const { rows } = await client.query<Row>(READ, [keys])
    const wait = Math.max(0, ...rows.map((row) => row.wait_seconds ?? 0))
    if (wait > 0) return wait
    for (const row of rows) {
      const limit = limits.find(({ key }) => key === row.key)
      if (limit === undefined) continue
      const tries = row.idle_seconds > limit.forgetSeconds ? 1 : row.count + 1
      await client.query(WRITE, [row.key, tries, waitAfter(tries, limit)])
    }
    return 0
  }

  return {
    /** Counts a try. @throws ApiError TOO_MANY_REQUESTS with the seconds to wait; nothing is counted then. */
    async take (limits: readonly Limit[]): Promise<void> {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const wait = await count(client, limits)
        await client.query('commit')
        if (wait === 0) return
        const seconds = Math.ceil(wait)
        throw new ApiError('TOO_MANY_REQUESTS', `Too many attempts; try again in ${seconds} s`, { retryAfterSeconds: seconds })
      } catch (err) {
        if (!(err instanceof ApiError)) await client.query('rollback')
        throw err
      } finally {
        client.release()
      }
    },

    /** Forgets the tries of some keys. */
    async forget (keys: readonly string[]): Promise<void> {
      await pool.query('delete from throttles where key = any($1)', [keys])
    },

    /** Tries under a key in the last `seconds`. */
    async countOf (key: string, seconds: number): Promise<number> {
      const { rows: [row] } = await pool.query<{ count: number }>(
        'select count from throttles where key = $1 and updated_at > now() - make_interval(secs => $2)', [key, seconds])
      return row?.count ?? 0
    },

    /** Deletes what is a day old. */
    async dropOld (): Promise<void> {
      await pool.query("delete from throttles where updated_at < now() - interval '1 day'")
    }
  }
}
export type Throttle = ReturnType<typeof createThrottle>
