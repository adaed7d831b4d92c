import type { FastifyInstance } from 'fastify'
import type { Rate } from '@svc/plugin-sdk'
import type { Db } from '../database/db.ts'
import { inTransaction } from '../database/transaction.ts'
import { nameRate } from '../http/rate-limit.ts'
import type { RateShare, SentRequests, ShareRate } from '../http/sliding-window.ts'

/** A share lasts for ten windows of its rate, within these limits, so that few statements suffice. */
const WINDOWS = 10
const [SHORTEST_MS, LONGEST_MS] = [1_000, 10_000]
/** Interval at which a process without a share asks again. */
const RETRY_MS = 250
/** First half of the advisory locks of rates. */
const RATE_CLASS = 736_417

interface ShareRequest {
  plugin: string
  rate: Rate
  holder: string
  /** The ids of all live processes. */
  alive: readonly string[]
  leaseMs: number
  sent: SentRequests
}

/** The shares of other processes. */
interface OtherShares {
  /** Requests in one window that they may send or just sent. */
  used: number
  /** Processes that use the rate or wait for a share, and those that wait. */
  claimants: number
  waiting: number
}

/**
 * A share counts until its last requests have left the window. In a window of more than ten seconds, and of a process
 * that died, only the requests that it reported count: a scan must not wait an hour after a restart.
 */
const OTHERS = `with others as (
    select requests, sent, sent_until > clock_timestamp() as has_sent, holder = any($5) and expires_at > clock_timestamp() as is_valid,
      holder = any($5) and expires_at + least($4::float8, ${LONGEST_MS}) * interval '1 ms' > clock_timestamp() as is_used
    from rate_shares where plugin = $1 and rate = $2 and holder <> $3)
  select coalesce(sum(greatest(case when is_used then requests else 0 end, case when has_sent then sent else 0 end)), 0)::int as used,
    (count(*) filter (where is_valid))::int as claimants, (count(*) filter (where is_valid and requests = 0))::int as waiting
  from others`
const DELETE_OLD = `delete from rate_shares where plugin = $1 and rate = $2
  and greatest(expires_at + ${LONGEST_MS} * interval '1 ms', sent_until) < clock_timestamp()`
const STORE = `insert into rate_shares (plugin, rate, holder, requests, expires_at, sent, sent_until)
  values ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 ms', $6, clock_timestamp() + $7 * interval '1 ms')
  on conflict (plugin, rate, holder) do update set requests = excluded.requests, expires_at = excluded.expires_at,
    sent = excluded.sent, sent_until = excluded.sent_until`

/**
 * Returns the fair part of a rate.
 *
 * @param hadShare true if the process had one before; it yields to a waiting one if there are more than requests
 */
export function chooseShare (requests: number, { used, claimants, waiting }: OtherShares, hadShare: boolean): number {
  const processes = claimants + 1
  if (hadShare && waiting > 0 && processes > requests) return 0
  return Math.max(0, Math.min(Math.ceil(requests / processes), requests - used))
}

/** Leases a part of a rate. @returns the requests in any window; 0 if other processes have the whole rate */
async function leaseShare (
  db: Db, { plugin, rate, holder, alive, leaseMs, sent }: ShareRequest, hadShare: boolean
): Promise<number> {
  const name = nameRate(rate)
  return await inTransaction(db, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1, hashtext($2))', [RATE_CLASS, `${plugin} ${name}`])
    const { rows: [others] } = await tx.query<OtherShares>(OTHERS, [plugin, name, holder, rate.perMs, alive])
    if (others === undefined) throw new TypeError('An aggregate has no row')
    const requests = chooseShare(rate.requests, others, hadShare)
    await tx.query(STORE, [plugin, name, holder, requests, leaseMs, sent.count, sent.countsForMs])
    await tx.query(DELETE_OLD, [plugin, name])
    return requests
  })
}

/**
 * Shares the rates and the concurrency of plugins among all processes, so that services get no more requests from
 * several scan workers than from one. Each process leases a part of a rate for some windows, and then needs no
 * statement for a request.
 */
export function createRateShares (app: Pick<FastifyInstance, 'db' | 'workers'>): (plugin: string) => ShareRate {
  return (plugin) => {
    const shares = new Map<string, RateShare & { renewAt: number }>()
    const renewals = new Map<string, Promise<RateShare>>()

    async function renew (name: string, rate: Rate, readSent: () => SentRequests): Promise<RateShare> {
      const known = shares.get(name)
      const now = performance.now()
      const leaseMs = rate.perMs === 0 ? LONGEST_MS : Math.min(Math.max(WINDOWS * rate.perMs, SHORTEST_MS), LONGEST_MS)
      const { id: holder } = app.workers
      const alive = await app.workers.listAlive()
      const lease = { plugin, rate, holder, alive, leaseMs, sent: readSent() }
      const requests = await leaseShare(app.db, lease, known !== undefined && known.requests > 0)
      // Half of the lease remains, in case that the next one takes long.
      const share = { requests, retryMs: RETRY_MS, renewAt: now + (requests === 0 ? RETRY_MS : leaseMs / 2) }
      shares.set(name, share)
      return share
    }

    return (rate, readSent) => {
      const name = nameRate(rate)
      const known = shares.get(name)
      if (known !== undefined && performance.now() < known.renewAt) return known
      const renewal = renewals.get(name) ?? renew(name, rate, readSent).finally(() => { renewals.delete(name) })
      renewals.set(name, renewal)
      return renewal
    }
  }
}
