import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import type { MatchExplanation } from './match-explanation.ts'

/** The lookups of a ROM that gave no match, by provider. */
export interface MissWrite { rom_id: number, explanations: ReadonlyMap<string, MatchExplanation> }

/** Joins the ROMs, because one may have been deleted since its lookup. */
const UPSERT_MISSES = `insert into rom_misses (rom_id, explanations)
  select m.rom_id, m.explanations from jsonb_to_recordset($1::jsonb) as m(rom_id int, explanations jsonb)
    join roms r on r.id = m.rom_id order by m.rom_id
  on conflict (rom_id) do update set explanations = rom_misses.explanations || excluded.explanations`

/** Stores the lookups without a match, those of many ROMs in one statement. */
export async function writeMisses (db: Db, misses: readonly MissWrite[]): Promise<void> {
  const rows = misses.filter(({ explanations }) => explanations.size > 0)
    .map(({ rom_id: id, explanations }) => ({ rom_id: id, explanations: Object.fromEntries(explanations) }))
  if (rows.length > 0) await db.query(UPSERT_MISSES, [toDatabaseJson(rows)])
}

/** The stored explanation of a lookup; null for a match from before explanations were stored. */
export interface ExplanationRow {
  provider: string
  /** Null without a match, or if the provider only gives ids of others. */
  provider_id: string | null
  score: number | null
  explanation: MatchExplanation | null
}

const SELECT = `select m.provider, m.provider_id,
    case when jsonb_typeof(m.match -> 'score') = 'number' then (m.match -> 'score')::float8 end as score, m.explanation
  from rom_matches m where m.rom_id = $1
  union all select e.key, null, null, e.value from rom_misses s cross join lateral jsonb_each(s.explanations) e
  where s.rom_id = $1 and not exists (select from rom_matches m where m.rom_id = $1 and m.provider = e.key)
  order by provider`

/** Loads the explanations of a ROM: of its matches, and of the lookups of all other providers. */
export async function selectExplanations (db: Db, romId: number): Promise<ExplanationRow[]> {
  return (await db.query<ExplanationRow>(SELECT, [romId])).rows
}

/** A ROM whose explanations are printed. `path` is relative to its library. */
export interface NamedRom { id: number, name: string | null, path: string, platform: string }

/** Loads the ROM with an id, or the ROMs with a path: one in each library that has the path. */
export async function selectNamedRoms (
  db: Db, { id, path }: { id?: number, path?: string }
): Promise<NamedRom[]> {
  const { rows } = await db.query<NamedRom>(`select r.id, r.name, r.fs_path || '/' || r.fs_name as path, p.slug as platform
    from roms r join platforms p on p.id = r.platform_id
    where r.id = $1 or r.fs_path || '/' || r.fs_name = $2 order by r.id`, [id ?? null, path ?? null])
  return rows
}
