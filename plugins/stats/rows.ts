import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import type { AssetKind } from '../assets/entities.ts'
import { isLive, isReachable, isShared } from '../assets/rows.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isCountVisible, isRomHidden, isRomVisible } from '../roms/visibility.ts'

/** The number of ROMs of a platform that share a value, and their size in bytes. */
export interface CountRow {
  platform_id: number
  kind: 'extension' | 'region' | 'provider'
  key: string
  roms: number
  bytes: number
}

/** Selects all counts without the ROMs that the caller may not see, in the order in which they were first counted. */
export async function selectCounts ({ db, caller }: Context<AnyCaller>): Promise<CountRow[]> {
  const { rows } = await sql<CountRow>`
    with hidden as (
      select r.id, r.platform_id, r.min_age, r.fs_extension, r.fs_size_bytes, r.regions from roms r
      where ${isRomHidden(caller)}),
    r as (
      select id, platform_id, min_age, kind, key, roms, bytes from library_counts
        where kind in ('extension', 'region', 'provider')
      union all select null, platform_id, min_age, 'extension', fs_extension, -1, -fs_size_bytes from hidden
      union all select null, platform_id, min_age, 'region', unnest(regions), -1, -fs_size_bytes from hidden
      union all select null, platform_id, min_age, 'provider', m.provider, -1, 0
        from hidden join rom_matches m on m.rom_id = hidden.id and m.provider_id is not null)
    select r.platform_id, r.kind, r.key, sum(r.roms)::int as roms, sum(r.bytes)::float8 as bytes
    from r join platforms p on p.id = r.platform_id where ${isCountVisible(caller)}
    group by r.platform_id, r.kind, r.key having sum(r.roms) > 0
    order by r.platform_id, r.kind, min(r.id)`.execute(db)
  return rows
}

/** Counts the uploads of each kind that the caller may see: its own, and those that others share with everybody. */
export async function selectAssetCounts ({ db, caller }: Context<AnyCaller>): Promise<Map<AssetKind, number>> {
  const { rows } = await sql<{ kind: AssetKind, count: number }>`
    select a.kind, count(*)::int as count from assets a left join roms r on r.id = a.rom_id
    where ${isLive} and ${isShared(caller)} and ${isReachable(caller)} group by a.kind`.execute(db)
  return new Map(rows.map((row) => [row.kind, row.count]))
}

/** Merges rows with the same key. Concurrent readers and writers see the same sums. */
export async function compactCounts (db: Db): Promise<void> {
  await db.query(`with gone as (delete from library_counts returning *)
    insert into library_counts (platform_id, min_age, kind, key, roms, bytes)
    select platform_id, min_age, kind, key, sum(roms), sum(bytes) from gone
    group by platform_id, min_age, kind, key having sum(roms) <> 0 or sum(bytes) <> 0 order by min(id)`)
}

export interface MostPlayedRow {
  rom_id: number
  name: string | null
  fs_name: string
  platform_id: number
  total_ms: number
  sessions: number
  /** Milliseconds since 1970. */
  last_played: number
}

/** Selects the visible ROMs that a user played longest. */
export async function selectMostPlayed (
  { db, caller }: Context<NonNullable<AnyCaller>>, limit: number
): Promise<MostPlayedRow[]> {
  const { rows } = await sql<MostPlayedRow>`
    with played as (
      select s.rom_id, sum(s.duration_ms) as total_ms, count(*) as sessions, max(s.end_time) as last_played
      from play_sessions s where s.user_id = ${caller.id} group by s.rom_id)
    select r.id as rom_id, r.name, r.fs_name, r.platform_id, played.total_ms::float8 as total_ms,
      played.sessions::int as sessions, ${selectMilliseconds('played.last_played')} as last_played
    from played join roms r on r.id = played.rom_id join platforms p on p.id = r.platform_id
    where ${isRomVisible(caller)} order by played.total_ms desc, r.id limit ${limit}`.execute(db)
  return rows
}

export interface PlayedWeekRow {
  /** The date of its Monday. */
  week: string
  platform_id: number
  platform_display_name: string
  total_ms: number
  sessions: number
}

/** Selects a user's play time of visible ROMs for each week and platform, newest week first. */
export async function selectPlayedWeeks (
  { db, caller }: Context<NonNullable<AnyCaller>>, weeks: number
): Promise<PlayedWeekRow[]> {
  const { rows } = await sql<PlayedWeekRow>`
    select to_char(date_trunc('week', s.start_time at time zone 'UTC'), 'YYYY-MM-DD') as week, p.id as platform_id,
      coalesce(p.custom_name, p.name) as platform_display_name, sum(s.duration_ms)::float8 as total_ms,
      count(*)::int as sessions
    from play_sessions s join roms r on r.id = s.rom_id join platforms p on p.id = r.platform_id
    where s.user_id = ${caller.id} and ${isRomVisible(caller)}
      and s.start_time >= (date_trunc('week', now() at time zone 'UTC') - make_interval(weeks => ${weeks - 1}))
        at time zone 'UTC'
    group by 1, p.id order by 1 desc, sum(s.duration_ms) desc, p.id`.execute(db)
  return rows
}
