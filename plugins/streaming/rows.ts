import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db, Queryable } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isPlatformVisible } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { StreamingSession } from './entities.ts'
import type { SessionTermination } from './schemas.ts'

/** Lifetime of an active session without a sign of its player. */
const LIFETIME = '6 hours'
/** Maximum silence of a client with heartbeats, which come every half minute. */
const SILENCE_MAX = '90 seconds'
/** Longer than the longest call that ends a session. */
const DRAIN_SECONDS = 120

/** A session with its player. Times are milliseconds since 1970. */
export interface SessionRow {
  container: string
  claim: string
  user_id: number
  username: string
  device_id: number | null
  platform: string
  rom_id: number | null
  rom_name: string | null
  state: StreamingSession['state']
  phase: string | null
  multiplayer: boolean
  claimed_at: number
  started_at: number | null
  seen_at: number
  /** True if the session lapsed without a release. */
  is_over: boolean
  /** True if the session lapsed because its heartbeats stopped. */
  is_silent: boolean
}

const time = (column: string) => `round(date_part('epoch', s.${column}) * 1000)::float8 as ${column}`
const SILENT = `(s.beats and s.seen_at < now() - interval '${SILENCE_MAX}')`
const OVER = `(s.expires_at <= now() or ${SILENT})`
const SESSION = `s.container, s.claim, s.user_id, u.username, s.device_id, s.platform, s.rom_id, s.rom_name, s.state, s.phase,
  s.multiplayer, ${time('claimed_at')}, ${time('started_at')}, ${time('seen_at')}, ${OVER} as is_over, ${SILENT} as is_silent`
const FROM = 'streaming_sessions s join users u on u.id = s.user_id'

/** Selects the sessions of these machines that have not lapsed, draining ones included. */
export async function selectSessions (db: Db, containers: readonly string[]): Promise<SessionRow[]> {
  const { rows } = await db.query<SessionRow>(
    `select ${SESSION} from ${FROM} where s.container = any($1) and not ${OVER}`, [containers])
  return rows
}

/** Selects all sessions, oldest first. */
export async function selectAllSessions (db: Db): Promise<SessionRow[]> {
  return (await db.query<SessionRow>(`select ${SESSION} from ${FROM} order by s.claimed_at, s.container`)).rows
}

/** Selects the sessions that lapsed without a release. */
export async function selectOver (db: Queryable): Promise<SessionRow[]> {
  return (await db.query<SessionRow>(`select ${SESSION} from ${FROM} where ${OVER}`)).rows
}

export interface NewClaim {
  user_id: number
  device_id: number | null
  platform: string
  rom_id: number | null
  rom_name: string | null
  multiplayer: boolean
  /** Maximum number of seconds until the game runs. */
  seconds: number
}

/** A reserved machine with the lapsed session it replaces, or else the session that holds the machine. */
export type Reservation =
  {
    container: string, claim: string, claimed_at: number, former: SessionRow | null
  } | { busy_session: SessionRow | null }

async function tryContainer (tx: Db, container: string, request: NewClaim): Promise<Reservation> {
  const { rows: [former = null] } = await tx.query<SessionRow>(
    `select ${SESSION} from ${FROM} where s.container = $1 for update of s`, [container])
  if (former !== null && !former.is_over) return { busy_session: former }
  if (former !== null) await tx.query('delete from streaming_sessions where container = $1', [container])
  const claim = randomUUID()
  const { rows: [row] } = await tx.query<{ claimed_at: number }>(`insert into streaming_sessions as s
    (container, claim, user_id, device_id, platform, rom_id, rom_name, state, multiplayer, expires_at)
    values ($1, $2, $3, (select id from devices where id = $4), $5, $6, $7, 'launching', $8, now() + $9 * interval '1 second')
    on conflict (container) do nothing returning ${time('claimed_at')}`,
  [container, claim, request.user_id, request.device_id, request.platform, request.rom_id, request.rom_name,
    request.multiplayer,
    request.seconds])
  // Another transaction was faster; its session becomes visible after its commit.
  return row === undefined ? { busy_session: null } : { container, claim, claimed_at: row.claimed_at, former }
}

/** Reserves the first free machine of these. A user has at most one session per platform. */
export function reserve (db: Db, containers: readonly string[], request: NewClaim): Promise<Reservation> {
  return inTransaction(db, async (tx) => {
    await tx.query('select 1 from users where id = $1 for no key update', [request.user_id])
    const { rows: [own] } = await tx.query<SessionRow>(`select ${SESSION} from ${FROM}
      where s.user_id = $1 and s.platform = $2 and s.state <> 'draining' and not ${OVER}`, [request.user_id, request.platform])
    let last: Reservation = { busy_session: own ?? null }
    if (own !== undefined) return last
    for (const container of containers) {
      last = await tryContainer(tx, container, request)
      if ('claim' in last) return last
    }
    return last
  })
}

type ClaimedContainer = Pick<SessionRow, 'container' | 'claim'>
const IS_CLAIM = 'container = $1 and claim = $2'

/** @returns true if the claim still holds the machine and the phase changed */
export async function updatePhase (
  db: Db, { container, claim }: ClaimedContainer, phase: string | null
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update streaming_sessions set phase = $3 where ${IS_CLAIM} and state = 'launching' and phase is distinct from $3`,
    [container, claim, phase])
  return rowCount === 1
}

export async function isLaunching (db: Db, { container, claim }: ClaimedContainer): Promise<boolean> {
  const { rowCount } = await db.query(
    `select 1 from streaming_sessions where ${IS_CLAIM} and state = 'launching'`, [container, claim])
  return rowCount === 1
}

/** Marks the game as running. @returns true if the claim still holds the machine */
export async function activate (db: Db, { container, claim }: ClaimedContainer): Promise<boolean> {
  const { rowCount } = await db.query(`update streaming_sessions set state = 'active', phase = null, started_at = now(),
    seen_at = now(), expires_at = now() + interval '${LIFETIME}' where ${IS_CLAIM} and state = 'launching'`, [container, claim])
  return rowCount === 1
}

/** Stores a sign of life of the player. */
export async function renew (db: Db, { container, claim }: ClaimedContainer, beats = false): Promise<void> {
  await db.query(`update streaming_sessions set seen_at = now(), beats = beats or $3, expires_at = case state
      when 'active' then now() + interval '${LIFETIME}' else expires_at end
    where ${IS_CLAIM} and state <> 'draining'`, [container, claim, beats])
}

/** Marks a session as draining while it is being ended. @returns true if the claim held the machine until now */
export async function drain (db: Db, { container, claim }: ClaimedContainer): Promise<boolean> {
  const { rowCount } = await db.query(`update streaming_sessions set state = 'draining',
    expires_at = now() + interval '${DRAIN_SECONDS} seconds' where ${IS_CLAIM} and state <> 'draining'`, [container, claim])
  return rowCount === 1
}

/** Releases a machine. @returns true if the claim held the machine until now */
export async function release (db: Db, { container, claim }: ClaimedContainer): Promise<boolean> {
  const { rowCount } = await db.query(`delete from streaming_sessions where ${IS_CLAIM}`, [container, claim])
  return rowCount === 1
}

/** Releases a machine after this many seconds. */
export async function releaseLater (db: Db, { container, claim }: ClaimedContainer, seconds: number): Promise<void> {
  await db.query(`update streaming_sessions set expires_at = now() + $3 * interval '1 second' where ${IS_CLAIM}`,
    [container, claim, seconds])
}

/** Stores the ending for the next request of the player. */
export async function storeEnding (
  db: Db, userId: number, platform: string, termination: SessionTermination
): Promise<void> {
  await db.query(`insert into streaming_endings (user_id, platform, termination)
    select id, $2, $3 from users where id = $1 for key share
    on conflict (user_id, platform) do update set termination = excluded.termination`, [userId, platform, JSON.stringify(termination)])
}

/** The message that a player gets once. */
export async function consumeEnding (
  db: Db, userId: number, platform: string
): Promise<SessionTermination | null> {
  const { rows: [row] } = await db.query<{ termination: SessionTermination }>(
    'delete from streaming_endings where user_id = $1 and platform = $2 returning termination', [userId, platform])
  return row?.termination ?? null
}

/** A ROM to play. */
export interface GameRow {
  id: number
  library_id: number
  name: string
  platform: string
  fs_path: string
  fs_name: string
}

export async function selectGame ({ db, caller }: Context<AnyCaller>, id: number): Promise<GameRow | null> {
  const { rows: [row] } = await sql<GameRow>`select r.id, r.library_id, coalesce(nullif(r.name, ''), r.fs_name) as name,
      lower(p.slug) as platform, r.fs_path, r.fs_name
    from roms r join platforms p on p.id = r.platform_id where r.id = ${id} and ${isRomVisible(caller)}`.execute(db)
  return row ?? null
}

/** Selects the slugs of these platforms that are hidden from the caller. */
export async function selectHiddenPlatforms (
  { db, caller }: Context<AnyCaller>, slugs: readonly string[]
): Promise<Set<string>> {
  const { rows } = await sql<{ slug: string }>`select lower(p.slug) as slug from platforms p
    where lower(p.slug) = any(${slugs}::text[]) group by lower(p.slug) having not bool_or(${isPlatformVisible(caller)})`
    .execute(db)
  return new Set(rows.map(({ slug }) => slug))
}

/** A file of a ROM that is part of the game. */
export interface DiscRow { library_id: number, file_path: string, file_name: string }

export async function selectDisc (db: Db, romId: number, fileId: number): Promise<DiscRow | null> {
  const { rows: [row] } = await sql<DiscRow>`select r.library_id, f.file_path, f.file_name
    from rom_files f join roms r on r.id = f.rom_id
    where f.id = ${fileId} and f.rom_id = ${romId} and coalesce(f.category, 'game') = 'game'`.execute(db)
  return row ?? null
}

/** A session that other users can join, with its ROM and platform. Times are milliseconds since 1970. */
export interface JoinableRow {
  container: string
  platform: string
  rom_id: number
  rom_name: string
  username: string
  claimed_at: number
  platform_id: number
  platform_name: string
  path_cover_small: string | null
  path_cover_large: string | null
  url_cover: string | null
  rom_updated_at: number
}

/** Selects joinable sessions of other users on these machines whose ROM is visible to the caller, oldest first. */
export async function selectJoinable (
  { db, caller }: Context, containers: readonly string[], romId: number | null
): Promise<JoinableRow[]> {
  const { rows } = await sql<JoinableRow>`select s.container, s.platform, r.id as rom_id,
      coalesce(nullif(r.name, ''), r.fs_name) as rom_name, u.username, ${selectMilliseconds('s.claimed_at')} as claimed_at,
      p.id as platform_id, coalesce(p.custom_name, p.name) as platform_name, r.path_cover_small, r.path_cover_large, r.url_cover,
      ${selectMilliseconds('r.updated_at')} as rom_updated_at
    from ${sql.raw(FROM)} join roms r on r.id = s.rom_id join platforms p on p.id = r.platform_id
    where s.container = any(${containers}::text[]) and s.multiplayer and s.state = 'active' and not ${sql.raw(OVER)}
      and s.user_id <> ${caller.id} and (${romId}::int is null or r.id = ${romId}) and ${isRomVisible(caller)}
    order by s.claimed_at, s.container`.execute(db)
  return rows
}
