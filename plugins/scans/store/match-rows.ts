import type pg from 'pg'
import { transaction } from '../../../core/database/transaction.ts'
import { toDatabaseJson } from '../../../core/database/json.ts'
import { GAME_FIELDS, GAME_FIELD_NAMES, type GameFieldName, mapGameFields } from '../../roms/game-fields.ts'
import { type Founds, idOf } from '../identify/findings.ts'
import type { MergedFields } from '../identify/merge/merge.ts'

/** The columns that a merge writes, with their types. */
const MERGED: Readonly<Record<keyof MergedFields | 'is_identified', string>> = {
  ...mapGameFields<GameFieldName, Record<GameFieldName, string>>(GAME_FIELD_NAMES, (name) => GAME_FIELDS[name].sql),
  name: 'text',
  name_sort_key: 'text',
  summary: 'text',
  url_cover: 'text',
  url_screenshots: 'text[]',
  url_manual: 'text',
  media: 'jsonb',
  is_identified: 'boolean'
}

const UPDATE_MERGED = `update roms set ${Object.keys(MERGED).map((column) => `${column} = m.${column}`).join(', ')},
    path_cover_small = case when roms.url_cover is distinct from m.url_cover then null else path_cover_small end,
    path_cover_large = case when roms.url_cover is distinct from m.url_cover then null else path_cover_large end,
    path_screenshots = case when roms.url_screenshots is distinct from m.url_screenshots then '{}' else path_screenshots end,
    path_manual = case when roms.url_manual is distinct from m.url_manual then null else path_manual end,
    updated_at = now()
  from jsonb_to_recordset($1::jsonb) as m(id int, ${Object.entries(MERGED).map(([column, type]) => `${column} ${type}`).join(', ')})
  where roms.id = m.id`

/** One ROM's outcome of a lookup round. */
export interface MatchWrite {
  rom_id: number
  matches: Founds
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
          rom_id: write.rom_id, provider, provider_id: idOf(match)?.toString() ?? null, match
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
