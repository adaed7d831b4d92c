import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { hasValues, selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import { newestThumbnail } from '../assets/thumbnail-rows.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { Cleared } from './schemas.ts'
import type { ActivityRow } from './views.ts'

const LIFETIME = '90 seconds'
/** Any number that no other lock uses: its holder publishes the refresh for all workers. */
const REFRESH_LOCK = 7_364_131

/** Only a public thumbnail, because other users see it. */
const THUMBNAIL = newestThumbnail({ user: sql`a.user_id`, rom: sql`a.rom_id` }, sql<boolean>`t.is_public`)

/** The id that the registration of the device returned. */
const DEVICE_ID = sql`case when d.is_numbered then to_jsonb(d.id) else to_jsonb(d.device_id) end`

const COLUMNS = sql`a.user_id, u.username, u.avatar_path, a.rom_id,
  coalesce(nullif(r.name, ''), r.fs_name) as rom_name, r.path_cover_small, r.path_screenshots, r.media,
  ${selectMilliseconds('r.updated_at')} as rom_updated_at, p.slug as platform_slug,
  coalesce(p.custom_name, p.name) as platform_name, ${DEVICE_ID} as device_id, d.client, a.socket_id is not null as by_socket,
  ${selectMilliseconds('a.started_at')} as started_at, (${THUMBNAIL}) as thumbnail`
/** Joins that the columns need, for entries aliased `a`. */
const SUBJECTS = sql`join users u on u.id = a.user_id join devices d on d.id = a.device_id
  join roms r on r.id = a.rom_id join platforms p on p.id = r.platform_id`

/** Conditions on entries; all given values must match. */
export interface EntrySelection {
  user_id?: number | undefined
  /** Integer id of the device. */
  device_id?: number | undefined
  rom_id?: number | undefined
  socket_id?: string | undefined
}

/** Selects live entries whose ROM is visible to the caller. */
export async function selectEntries (
  { db, caller }: Context<AnyCaller>, selection: EntrySelection
): Promise<ActivityRow[]> {
  const { rows } = await sql<ActivityRow>`select ${COLUMNS} from activity_entries a ${SUBJECTS}
    where a.expires_at > now() and u.enabled and ${isRomVisible(caller)} and ${hasValues('a', { ...selection })}`
    .execute(db)
  return rows
}

export interface ActivityUpdate {
  rom_id: number
  /** Integer id of the device. */
  device_id: number
  /** Socket that sent the heartbeat. */
  socket_id: string | null
  /** True for the start of a game, false for a heartbeat of a running one. */
  starts: boolean
}

/** Returns the ROM of a device's live entry; null for none. */
export async function findPlayed (db: Db, userId: number, deviceId: number): Promise<number | null> {
  const { rows: [row] } = await sql<{ rom_id: number }>`select rom_id from activity_entries
    where user_id = ${userId} and device_id = ${deviceId} and expires_at > now()`.execute(db)
  return row?.rom_id ?? null
}

/**
 * Creates or extends the entry of a device. A single statement prevents that another request ends the entry before it
 * is read.
 *
 * @returns the entry, and the ROM of the former live one; `undefined` if the ROM is missing or not visible to the
 *   player
 */
export async function upsertEntry (
  { db, caller: player }: Context<NonNullable<AnyCaller>>, beat: ActivityUpdate
): Promise<ActivityRow & { former_rom_id: number | null } | undefined> {
  const { rows: [row] } = await sql<ActivityRow & { former_rom_id: number | null }>`with former as (
      select rom_id from activity_entries
      where user_id = ${player.id} and device_id = ${beat.device_id} and expires_at > now()
    ), a as (insert into activity_entries as e (user_id, device_id, rom_id, socket_id, started_at, expires_at)
    select ${player.id}::int, d.id, r.id, ${beat.socket_id}::text, now(), now() + ${LIFETIME}::interval
    from devices d, roms r join platforms p on p.id = r.platform_id
    where d.id = ${beat.device_id} and r.id = ${beat.rom_id} and ${isRomVisible(player)} for key share of d, r
    on conflict (user_id, device_id) do update set rom_id = excluded.rom_id, expires_at = excluded.expires_at,
      socket_id = case when e.expires_at <= now() or e.rom_id <> excluded.rom_id then excluded.socket_id
        else coalesce(excluded.socket_id, e.socket_id) end,
      started_at = case
        when ${beat.starts}::boolean or e.expires_at <= now() or e.rom_id <> excluded.rom_id then excluded.started_at
        else e.started_at end
    returning e.*)
    select ${COLUMNS}, (select rom_id from former) as former_rom_id from a ${SUBJECTS}`.execute(db)
  return row
}

export async function deleteEntries (db: Db, selection: EntrySelection): Promise<Cleared[]> {
  const { rows } = await sql<Cleared>`delete from activity_entries a using devices d
    where d.id = a.device_id and ${hasValues('a', { ...selection })}
    returning a.user_id, ${DEVICE_ID} as device_id, a.rom_id`.execute(db)
  return rows
}

/** Takes the lock until the transaction ends. @returns false if another worker holds it */
export async function lockRefresh (tx: Db): Promise<boolean> {
  const { rows: [lock] } = await tx.query<{ is_ours: boolean }>(
    'select pg_try_advisory_xact_lock($1) as is_ours', [REFRESH_LOCK])
  return lock?.is_ours === true
}
