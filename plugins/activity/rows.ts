import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type pg from 'pg'
import { hasValues, milliseconds } from '../../core/database/columns.ts'
import { newestThumbnail } from '../assets/thumbnail-rows.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { Cleared } from './schemas.ts'
import type { ActivityRow } from './views.ts'

const LIFETIME = '90 seconds'
/** Any number that is ours alone: who holds it tells everybody, for all workers. */
const REFRESH_LOCK = 7_364_131

/** Others see it, so it is one that the player shares. */
const THUMBNAIL = newestThumbnail({ user: sql`a.user_id`, rom: sql`a.rom_id` }, sql<boolean>`t.is_public`)

/** By the id that its registration was answered with. */
const DEVICE_ID = sql`case when d.is_numbered then to_jsonb(d.id) else to_jsonb(d.device_id) end`

const COLUMNS = sql`a.user_id, u.username, u.avatar_path, a.rom_id,
  coalesce(nullif(r.name, ''), r.fs_name) as rom_name, r.path_cover_small, r.path_screenshots, r.media,
  ${milliseconds('r.updated_at')} as rom_updated_at, p.slug as platform_slug,
  coalesce(p.custom_name, p.name) as platform_name, ${DEVICE_ID} as device_id, d.client, a.socket_id is not null as by_socket,
  ${milliseconds('a.started_at')} as started_at, (${THUMBNAIL}) as thumbnail`
/** What the columns need beside the entries, aliased `a`. */
const SUBJECTS = sql`join users u on u.id = a.user_id join devices d on d.id = a.device_id
  join roms r on r.id = a.rom_id join platforms p on p.id = r.platform_id`

/** Which entries: those that have all of this. */
export interface EntrySelection {
  user_id?: number | undefined
  /** The integer one. */
  device_id?: number | undefined
  rom_id?: number | undefined
  socket_id?: string | undefined
}

/** Live entries that a viewer may see. */
export async function selectEntries (
  em: EntityManager, caller: AnyCaller, selection: EntrySelection
): Promise<ActivityRow[]> {
  const { rows } = await sql<ActivityRow>`select ${COLUMNS} from activity_entries a ${SUBJECTS}
    where a.expires_at > now() and u.enabled and ${isRomVisible(caller)} and ${hasValues('a', { ...selection })}`
    .execute(em.getKysely())
  return rows
}

export interface Beat {
  rom_id: number
  /** The integer one. */
  device_id: number
  /** Socket that it came by. */
  socket_id: string | null
  /** Whether it is the start of a game, not another sign of one. */
  starts: boolean
}

/** The ROM of the live entry of a device; null for none. */
export async function findPlayed (em: EntityManager, userId: number, deviceId: number): Promise<number | null> {
  const { rows: [row] } = await sql<{ rom_id: number }>`select rom_id from activity_entries
    where user_id = ${userId} and device_id = ${deviceId} and expires_at > now()`.execute(em.getKysely())
  return row?.rom_id ?? null
}

/**
 * Starts or prolongs the entry of a device. One statement, so that nobody can end it before it is read.
 *
 * @returns the entry, and the ROM of the live one there was; `undefined` when the player may not see the ROM, or it is
 *   not there
 */
export async function upsertEntry (
  em: EntityManager, player: NonNullable<AnyCaller>, beat: Beat
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
    select ${COLUMNS}, (select rom_id from former) as former_rom_id from a ${SUBJECTS}`.execute(em.getKysely())
  return row
}

export async function deleteEntries (em: EntityManager, selection: EntrySelection): Promise<Cleared[]> {
  const { rows } = await sql<Cleared>`delete from activity_entries a using devices d
    where d.id = a.device_id and ${hasValues('a', { ...selection })}
    returning a.user_id, ${DEVICE_ID} as device_id, a.rom_id`.execute(em.getKysely())
  return rows
}

/** Until the transaction ends. @returns false when another worker holds it */
export async function lockRefresh (client: pg.ClientBase): Promise<boolean> {
  const { rows: [lock] } = await client.query<{ is_ours: boolean }>(
    'select pg_try_advisory_xact_lock($1) as is_ours', [REFRESH_LOCK])
  return lock?.is_ours === true
}
