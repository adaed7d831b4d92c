import { sql } from 'kysely'
import type { Db } from '../../../core/database/db.ts'

/** The end of a user's last play session of a ROM. */
export interface Play { rom_id: number, at: Date }

/** Selects a row per existing ROM, always in the same order, so two requests cannot deadlock. */
const present = (plays: readonly Play[]) => sql`select r.id, played.at
  from unnest(${plays.map((play) => play.rom_id)}::int[], ${plays.map((play) => play.at.toISOString())}::timestamptz[]) as played (rom_id, at)
  join roms r on r.id = played.rom_id order by r.id for key share of r`
const ONLY_FORWARD = sql`rom_users.last_played is null or rom_users.last_played < excluded.last_played`

/** Moves a user's last activity with a ROM forward; an earlier time changes nothing. */
export async function storeLastPlayed (db: Db, userId: number, romId: number, at: Date): Promise<void> {
  await sql`insert into rom_users (rom_id, user_id, last_played)
    select id, ${userId}::int, at from (${present([{ rom_id: romId, at }])}) present
    on conflict (rom_id, user_id) do update set last_played = excluded.last_played, updated_at = now()
    where ${ONLY_FORWARD}`.execute(db)
}

/**
 * Stores that a user played ROMs, each listed once. A play later than the stored one marks the ROM as now playing and
 * reopens a finished one. The user sets the other statuses, so they stay.
 */
export async function storePlays (db: Db, userId: number, plays: readonly Play[]): Promise<void> {
  if (plays.length === 0) return
  await sql`insert into rom_users (rom_id, user_id, last_played, now_playing, status)
    select id, ${userId}::int, at, true, 'incomplete' from (${present(plays)}) present
    on conflict (rom_id, user_id) do update set last_played = excluded.last_played, now_playing = true, updated_at = now(),
      status = case when rom_users.status is null or rom_users.status = 'finished' then 'incomplete' else rom_users.status end
    where ${ONLY_FORWARD}`.execute(db)
}
