import type { Match } from '@svc/plugin-sdk'
import type pg from 'pg'
import { transaction } from '../../../core/database/transaction.ts'
import { toDatabaseJson } from '../../../core/database/json.ts'
import type { MergedFields } from '../identify/merge.ts'

const MERGED = ['name', 'name_sort_key', 'slug', 'summary', 'alternative_names', 'youtube_video_id', 'genres', 'franchises',
  'collections', 'companies', 'developers', 'publishers', 'game_modes', 'age_ratings', 'min_age', 'player_count',
  'first_release_date', 'average_rating', 'regions', 'languages', 'url_cover', 'url_screenshots', 'url_manual', 'media',
  'is_identified'] as const satisfies readonly (keyof MergedFields | 'is_identified')[]
const TEXT_LISTS = new Set<string>(['alternative_names', 'genres', 'franchises', 'collections', 'companies', 'developers',
  'publishers', 'game_modes', 'age_ratings', 'regions', 'languages', 'url_screenshots'])
const OTHER_TYPES: Record<string, string> = {
  min_age: 'int', first_release_date: 'bigint', average_rating: 'real', media: 'jsonb', is_identified: 'boolean'
}
const typeOf = (column: string) => TEXT_LISTS.has(column) ? 'text[]' : OTHER_TYPES[column] ?? 'text'

const UPDATE_MERGED = `update roms set ${MERGED.map((column) => `${column} = m.${column}`).join(', ')},
    path_cover_small = case when roms.url_cover is distinct from m.url_cover then null else path_cover_small end,
    path_cover_large = case when roms.url_cover is distinct from m.url_cover then null else path_cover_large end,
    path_screenshots = case when roms.url_screenshots is distinct from m.url_screenshots then '{}' else path_screenshots end,
    path_manual = case when roms.url_manual is distinct from m.url_manual then null else path_manual end,
    updated_at = now()
  from jsonb_to_recordset($1::jsonb) as m(id int, ${MERGED.map((column) => `${column} ${typeOf(column)}`).join(', ')})
  where roms.id = m.id`

/** One ROM's outcome of a lookup round. */
export interface MatchWrite {
  rom_id: number
  matches: ReadonlyMap<string, Match>
  /** Providers whose stored match is dropped. */
  dropped: readonly string[]
  merged: MergedFields & { is_identified: boolean }
}

export function createMatchStore (pool: pg.Pool) {
  return {
    /** Stores matches and what was merged from them, many ROMs in one transaction. */
    async writeMatches (writes: readonly MatchWrite[]): Promise<void> {
      await transaction(pool, async (client) => {
        const dropped = writes.flatMap((write) => write.dropped.map((provider) => ({ rom_id: write.rom_id, provider })))
        if (dropped.length > 0) {
          await client.query(`delete from rom_matches m using jsonb_to_recordset($1::jsonb) as d(rom_id int, provider text)
            where m.rom_id = d.rom_id and m.provider = d.provider`, [toDatabaseJson(dropped)])
        }
        const matches = writes.flatMap((write) => [...write.matches].map(([provider, match]) => ({
          rom_id: write.rom_id, provider, provider_id: String(match.id), match
        })))
        if (matches.length > 0) {
          await client.query(`insert into rom_matches (rom_id, provider, provider_id, match)
            select * from jsonb_to_recordset($1::jsonb) as m(rom_id int, provider text, provider_id text, match jsonb)
            on conflict (rom_id, provider) do update set provider_id = excluded.provider_id, match = excluded.match,
              updated_at = now()`, [toDatabaseJson(matches)])
        }
        const merged = writes.map((write) => ({ id: write.rom_id, ...write.merged }))
        await client.query(UPDATE_MERGED, [toDatabaseJson(merged)])
      })
    }
  }
}
export type MatchStore = ReturnType<typeof createMatchStore>
