import type { OutgoingNotification } from '@svc/plugin-sdk'
import type { Db } from '../../../core/database/db.ts'
import { toDatabaseJson } from '../../../core/database/json.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { currentRequestId } from '../../../core/log/request-id.ts'
import { SHOWN, foldNotifications } from '../host/render.ts'

/** A notification of one user, for all channels of the user that accept it. */
export interface ChannelItem { user_id: number, topic: string, notification: OutgoingNotification }

/** A channel that was disabled because its deliveries kept failing. */
export interface DisabledChannel { id: number, user_id: number, name: string, error: string }

/** The next delivery of a channel. */
export interface Delivery {
  id: number
  channel_id: number
  user_id: number
  type: string
  sealed: string
  is_admin: boolean
  attempts: number
  /** Number of times that the delivering process died. */
  deaths: number
  /** True if the delivering process died in the last try. */
  has_died: boolean
  notification: OutgoingNotification
  /** Id of the request that caused the notification, of several the last one; null for none. */
  request_id: string | null
}

/** A channel with a running delivery. */
export type RunningDelivery = Pick<Delivery, 'channel_id' | 'user_id'>

/** The single delivery that several were folded into. */
type FoldedDelivery = Pick<Delivery, 'id' | 'notification' | 'request_id'>

interface DueDelivery extends Delivery {
  /** True if a try was made. The notification may have arrived already, so its text must not change. */
  was_begun: boolean
  /** Number of deliveries that may still start within this minute; null for no limit. */
  free: number | null
  /** Number of deliveries without a try, counted up to one more than `free`. */
  waiting: number
  /** Time when the next delivery may start. */
  free_at: Date | null
}

export interface FailedDelivery { id: number, error: string }
export interface DeliveryRetry { id: number, attempts: number, delay_ms: number }
/** Results of deliveries. */
export interface DeliveryResults { delivered: number[], retries: DeliveryRetry[], failed: FailedDelivery[] }

/** A channel is disabled after this many failed deliveries in a row. */
const FAILURES_MAX = 10
/**
 * Maximum number of concurrent deliveries per user, because slow destinations of one user must not block all others.
 */
const PER_USER = 4

/** Number of running deliveries of a user; `$2` has the user of each running delivery. */
const UNDER_WAY = 'cardinality(array_positions($2::int[], c.user_id))'

/**
 * Selects the oldest row of each channel, because a waiting delivery blocks the later ones. A process that ended
 * cleanly has no row in `workers`.
 */
const HEADS = `select * from (select c.id as channel_id, c.user_id, c.type, c.sealed, u.role = 'admin' as is_admin,
    h.id, h.attempts, h.notification, h.request_id, h.due_at, h.attempts + h.deaths > 0 or h.worker_id is not null as was_begun,
    last.has_died, h.deaths + last.has_died::int as deaths,
    l.per_minute - r.begun as free, r.oldest + interval '1 minute' as free_at, w.waiting,
    ${UNDER_WAY} + row_number() over (partition by c.user_id order by h.due_at, h.id) as place
  from notification_channels c
  join users u on u.id = c.user_id and u.enabled
  cross join lateral (select d.id, d.attempts, d.deaths, d.notification, d.request_id, d.worker_id, d.due_at
    from channel_deliveries d where d.channel_id = c.id order by d.id limit 1) h
  cross join lateral (select exists (select from workers where id = h.worker_id and id <> $3) as has_died) last
  left join unnest($4::text[], $5::int[]) as l (type, per_minute) on l.type = c.type
  cross join lateral (select count(*)::int as begun, min(at) as oldest
    from unnest(c.recent_at) as recent (at) where at > now() - interval '1 minute') r
  cross join lateral (select count(*)::int as waiting from (select 1 from channel_deliveries d
    where d.channel_id = c.id and d.attempts + d.deaths = 0 and d.worker_id is null
    limit greatest(0, coalesce(l.per_minute - r.begun + 1, 0))) untouched) w
  where c.enabled and c.confirmed and h.due_at <= now() and c.id <> all($1::int[])) heads
  where place <= ${PER_USER} order by due_at, id limit $6`

const NEXT_DUE = `select extract(epoch from min(h.due_at) - now())::float8 * 1000 as ms
  from notification_channels c
  join users u on u.id = c.user_id and u.enabled
  cross join lateral (select d.due_at from channel_deliveries d where d.channel_id = c.id order by d.id limit 1) h
  where c.enabled and c.confirmed and c.id <> all($1::int[]) and ${UNDER_WAY} < ${PER_USER}`

/** Lock order of all changes and deletions: the channel first, then its deliveries. */
const LOCK = 'select 1 from notification_channels where id = any($1::int[]) order by id for no key update'

const BEGIN = `with begun as (update channel_deliveries d set worker_id = $2, deaths = b.deaths
    from unnest($1::bigint[], $4::int[]) as b (id, deaths) where d.id = b.id returning d.id),
  counted as (update notification_channels set recent_at = array(select at from unnest(recent_at) as recent (at)
    where at > now() - interval '1 minute') || now() where id = any($3::int[]))
  select id from begun`
const POSTPONE = `update channel_deliveries d set due_at = p.due_at
  from unnest($1::bigint[], $2::timestamptz[]) as p (id, due_at) where d.id = p.id`

const NOT_ATTEMPTED = 'channel_id = $1 and attempts + deaths = 0 and worker_id is null'
const BURST = `select array_agg(id order by id desc) as ids, max(case notification ->> 'level'
  when 'error' then 3 when 'warning' then 2 when 'success' then 1 else 0 end) as rank
  from (select id, notification from channel_deliveries where ${NOT_ATTEMPTED} for update) burst`

const DELIVERED = `with gone as (delete from channel_deliveries where id = any($1::bigint[]) returning channel_id)
  update notification_channels set last_delivered_at = now(), last_error = null, consecutive_failures = 0
  where id in (select channel_id from gone)`
const RETRY = `update channel_deliveries d set attempts = r.attempts, worker_id = null,
    due_at = now() + r.delay_ms * interval '1 millisecond'
  from unnest($1::bigint[], $2::int[], $3::int[]) as r (id, attempts, delay_ms) where d.id = r.id`
const FAILED = `with gone as (delete from channel_deliveries where id = any($1::bigint[]) returning id, channel_id),
  counted as (update notification_channels c set consecutive_failures = consecutive_failures + 1, last_error = f.error,
      enabled = consecutive_failures + 1 < ${FAILURES_MAX}
    from gone join unnest($1::bigint[], $2::text[]) as f (id, error) using (id) where c.id = gone.channel_id
    returning c.id, c.user_id, c.name, c.enabled, c.last_error as error),
  dropped as (delete from channel_deliveries where id <> all($1::bigint[])
    and channel_id in (select id from counted where not enabled))
  select id, user_id, name, error from counted where not enabled`

/** Counts waiting and running deliveries by channel type. */
export async function countDeliveries (db: Db): Promise<{ type: string, count: number }[]> {
  const { rows } = await db.query<{ type: string, count: number }>(
    'select c.type, count(*)::int from channel_deliveries d join notification_channels c on c.id = d.channel_id group by 1')
  return rows
}

const toValues = (busy: readonly RunningDelivery[]) =>
  [busy.map((running) => running.channel_id), busy.map((running) => running.user_id)]

async function findNextDue (db: Db, busy: readonly RunningDelivery[]): Promise<number | null> {
  const { rows: [row] } = await db.query<{ ms: number | null }>(NEXT_DUE, toValues(busy))
  return row?.ms ?? null
}

/** True if a delivery is due within this time. */
export async function isAnyDue (db: Db, ms: number): Promise<boolean> {
  const due = await findNextDue(db, [])
  return due !== null && due <= ms
}

/**
 * Folds all deliveries of a channel without a try into one.
 *
 * @returns the delivery to start, or null if all are gone
 */
async function fold (tx: Db, channelId: number): Promise<FoldedDelivery | null> {
  const { rows: [burst] } = await tx.query<{ ids: string[] | null, rank: number }>(BURST, [channelId])
  const [newest, ...others] = (burst?.ids ?? []).map(Number)
  if (newest === undefined) return null
  const { rows } = await tx.query<Omit<FoldedDelivery, 'id'>>(
    'select notification, request_id from channel_deliveries where id = any($1::bigint[]) order by id desc',
    [[newest, ...others].slice(0, SHOWN)])
  const [first, ...rest] = rows
  if (first === undefined) return null
  const count = others.length + 1
  const latest = [first.notification, ...rest.map((row) => row.notification)] as const
  const notification = count === 1 ? first.notification : foldNotifications(latest, count, burst?.rank ?? 0)
  await tx.query('delete from channel_deliveries where id = any($1::bigint[])', [others])
  await tx.query('update channel_deliveries set notification = $2 where id = $1', [newest, notification])
  return { id: newest, notification, request_id: first.request_id }
}

/** Runs work that changes channels and their deliveries, with the channels locked. */
async function withChannelsLocked<T> (
  db: Db, channels: readonly number[], work: (tx: Db) => Promise<T>
): Promise<T> {
  return await inTransaction(db, async (tx) => {
    await tx.query(LOCK, [channels])
    return await work(tx)
  })
}

/** Marks due deliveries as begun by a worker. @returns those to start */
async function begin (tx: Db, due: readonly DueDelivery[], workerId: string): Promise<Delivery[]> {
  const begun: Delivery[] = []
  for (const delivery of due) {
    const { free, waiting, was_begun: wasBegun, channel_id: channel } = delivery
    // More deliveries wait than may start now: fold them into one.
    const isBurst = free !== null && !wasBegun && waiting > free
    const next = isBurst ? await fold(tx, channel) : delivery
    if (next !== null) begun.push({ ...delivery, ...next })
  }
  const limited = due.filter(({ free }) => free !== null).map((delivery) => delivery.channel_id)
  const values = [begun.map(({ id }) => id), workerId, limited, begun.map(({ deaths }) => deaths)]
  const { rows } = await tx.query<{ id: string }>(BEGIN, values)
  const startedIds = new Set(rows.map(({ id }) => Number(id)))
  return begun.filter(({ id }) => startedIds.has(id))
}

/** Access to the rows of deliveries, which are the only truth about them. Only one process at a time uses them. */
export function createDeliveries (db: Db, workerId: string, listLimits: () => ReadonlyMap<string, number>) {
  return {
    /** Takes due deliveries: at most one per channel and a few per user. */
    async claimDue (busy: readonly RunningDelivery[], max: number): Promise<Delivery[]> {
      const limits = listLimits()
      const values = [...toValues(busy), workerId, [...limits.keys()], [...limits.values()], max]
      const { rows } = await db.query<Omit<DueDelivery, 'id'> & { id: string }>(HEADS, values)
      const due = rows.map((row): DueDelivery => ({ ...row, id: Number(row.id) }))
      const postponed = due.filter(({ free }) => free !== null && free <= 0)
      if (postponed.length > 0) {
        await db.query(POSTPONE, [postponed.map(({ id }) => id), postponed.map((delivery) => delivery.free_at)])
      }
      const ready = due.filter((delivery) => !postponed.includes(delivery))
      if (ready.length === 0) return []
      const channels = ready.map((delivery) => delivery.channel_id)
      return await withChannelsLocked(db, channels, (tx) => begin(tx, ready, workerId))
    },

    /** Returns the milliseconds until the next delivery is due, negative if one is due already; null if none waits. */
    findNextDue: (busy: readonly RunningDelivery[]): Promise<number | null> => findNextDue(db, busy),

    /** Stores the results of deliveries of some channels. @returns the channels that were disabled by them */
    storeResults: (channels: readonly number[], { delivered, retries, failed }: DeliveryResults) =>
      withChannelsLocked(db, channels, async (tx) => {
        if (delivered.length > 0) await tx.query(DELIVERED, [delivered])
        if (retries.length > 0) {
          await tx.query(RETRY, [
            retries.map(({ id }) => id), retries.map(({ attempts }) => attempts), retries.map((retry) => retry.delay_ms)
          ])
        }
        if (failed.length === 0) return []
        const values = [failed.map(({ id }) => id), failed.map(({ error }) => error)]
        return (await tx.query<DisabledChannel>(FAILED, values)).rows
      })
  }
}

/** Event that wakes the delivering worker, whichever process it is. */
export const WAKE_EVENT = 'svc_channel_deliveries'

const RANKS: Readonly<Record<OutgoingNotification['level'], number>> = { info: 0, success: 0, warning: 1, error: 2 }

const ENQUEUE = `insert into channel_deliveries (channel_id, notification, request_id)
  select c.id, i.notification, $5 from unnest($1::int[], $2::text[], $3::int[], $4::jsonb[]) with ordinality
    as i (user_id, topic, rank, notification, position)
  join notification_channels c on c.user_id = i.user_id
  where c.enabled and c.confirmed and (c.topics is null or i.topic = any(c.topics))
    and i.rank >= case c.min_level when 'info' then 0 when 'warning' then 1 else 2 end
  order by i.position, c.id`

/** Inserts deliveries of notifications for the channels that accept them. */
export async function insertDeliveries (tx: Db, items: readonly ChannelItem[]): Promise<void> {
  await tx.query(ENQUEUE, [
    items.map((item) => item.user_id), items.map((item) => item.topic),
    items.map((item) => RANKS[item.notification.level]), items.map((item) => toDatabaseJson(item.notification)),
    currentRequestId() ?? null
  ])
}

/** Wakes the delivering worker. */
export async function announceDeliveries (db: Db): Promise<void> {
  await db.query('select pg_notify($1, $2)', [WAKE_EVENT, ''])
}

/** Makes the waiting deliveries of a channel due at once, because its settings changed. */
export async function releaseDeliveries (tx: Db, channelId: number): Promise<void> {
  await tx.query('update channel_deliveries set due_at = now() where channel_id = $1 and due_at > now()', [channelId])
  await announceDeliveries(tx)
}
