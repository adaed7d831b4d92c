import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'

/** The end of a user's last time with a ROM. */
export interface Play { rom_id: number, at: Date }

/** A row per ROM that is still there, always in the same order, so that two requests do not wait for each other. */
const present = (plays: readonly Play[]) => sql`select r.id, played.at
  from unnest(${plays.map((play) => play.rom_id)}::int[], ${plays.map((play) => play.at.toISOString())}::timestamptz[]) as played (rom_id, at)
  join roms r on r.id = played.rom_id order by r.id for key share of r`
const ONLY_FORWARD = sql`rom_users.last_played is null or rom_users.last_played < excluded.last_played`

/** Moves the time a user was last busy with a ROM forward; an earlier one changes nothing. */
export async function noteLastPlayed (em: EntityManager, userId: number, romId: number, at: Date): Promise<void> {
  await sql`insert into rom_users (rom_id, user_id, last_played)
    select id, ${userId}::int, at from (${present([{ rom_id: romId, at }])}) present
    on conflict (rom_id, user_id) do update set last_played = excluded.last_played, updated_at = now()
    where ${ONLY_FORWARD}`.execute(em.getKysely())
}

/**
 * Notes that a user played ROMs, each given once: what is later than anything noted makes the ROM one that is being
 * played, and reopens one that was finished. The other statuses are what the user decided.
 */
export async function notePlayed (em: EntityManager, userId: number, plays: readonly Play[]): Promise<void> {
  if (plays.length === 0) return
  await sql`insert into rom_users (rom_id, user_id, last_played, now_playing, status)
    select id, ${userId}::int, at, true, 'incomplete' from (${present(plays)}) present
    on conflict (rom_id, user_id) do update set last_played = excluded.last_played, now_playing = true, updated_at = now(),
      status = case when rom_users.status is null or rom_users.status = 'finished' then 'incomplete' else rom_users.status end
    where ${ONLY_FORWARD}`.execute(em.getKysely())
}
