import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import { ARTWORK_PATHS, declareRomColumns, romColumnsIn } from '../roms/rom-columns.ts'
import type { ManualMetadata } from '../roms/entities.ts'
import { type ProviderMatches, idOf } from './matches.ts'
import type { MatchExplanation } from './match-explanation.ts'
import type { MergedFields } from './merge-matches.ts'

const MERGED = romColumnsIn('merge')

/** A stored picture goes with its URL. */
const clearPath = ({ name, isList, url }: typeof ARTWORK_PATHS[number]) =>
  `${name} = case when roms.${url} is distinct from m.${url} then ${isList ? "'{}'" : 'null'} else ${name} end`

const UPDATE_MERGED = `update roms set ${MERGED.map((column) => `${column} = m.${column}`).join(', ')},
    ${ARTWORK_PATHS.map(clearPath).join(', ')}, updated_at = now()
  from jsonb_to_recordset($1::jsonb) as m(id int, ${declareRomColumns(MERGED)})
  where roms.id = m.id`

/** The columns that an edit sets besides the merged ones; pictures only if they change. */
export interface EditColumns {
  own_fields: readonly string[]
  manual_metadata: ManualMetadata | null
  cover?: { large: string | null, small: string | null }
  path_manual?: string | null
}

const UPDATE_EDITED = `update roms set edits = edits + 1, own_fields = e.own_fields,
    manual_metadata = nullif(e.manual_metadata, 'null'::jsonb),
    path_cover_large = case when e.cover is null then path_cover_large else e.cover ->> 'large' end,
    path_cover_small = case when e.cover is null then path_cover_small else e.cover ->> 'small' end,
    path_manual = case when e.has_manual then e.path_manual else roms.path_manual end
  from jsonb_to_recordset($1::jsonb) as e(id int, own_fields text[], manual_metadata jsonb, cover jsonb, has_manual boolean,
    path_manual text)
  where roms.id = e.id`

/** Locks the ROMs that nobody edited since they were read, until the transaction ends. */
const LOCK_CURRENT = `select r.id from roms r
  join jsonb_to_recordset($1::jsonb) as w(id int, edits int) on w.id = r.id and w.edits = r.edits
  order by r.id for update of r`

async function lockCurrent (tx: Db, writes: readonly MatchWrite[]): Promise<MatchWrite[]> {
  const expectedEdits = writes.map(({ rom_id: id, edits }) => ({ id, edits }))
  const { rows } = await tx.query<{ id: number }>(LOCK_CURRENT, [toDatabaseJson(expectedEdits)])
  const current = new Set(rows.map(({ id }) => id))
  return writes.filter((write) => current.has(write.rom_id))
}

async function writeEdits (tx: Db, writes: readonly MatchWrite[]): Promise<void> {
  const edited = writes.flatMap(({ rom_id: id, edit }) => edit === undefined
    ? []
    : [{ id, ...edit, has_manual: edit.path_manual !== undefined }])
  if (edited.length > 0) await tx.query(UPDATE_EDITED, [toDatabaseJson(edited)])
}

/** The result of a ROM's lookups. */
export interface MatchWrite {
  rom_id: number
  /** The ROM's number of edits when the ROM was read. */
  edits: number
  matches: ProviderMatches
  /** The explanation of each match; without one, the stored one stays. */
  explanations: ReadonlyMap<string, MatchExplanation>
  /** Providers whose stored match is deleted. */
  dropped: readonly string[]
  merged: MergedFields & { is_identified: boolean }
  /** The changes by a person in the same write. */
  edit?: EditColumns
}

/**
 * Stores matches and their merged values, many ROMs in one transaction. Skips a ROM that somebody edited since the
 * ROM was read.
 *
 * @returns the ids of the written ROMs
 */
export async function writeMatches (db: Db, given: readonly MatchWrite[]): Promise<number[]> {
  return await inTransaction(db, async (tx) => {
    const writes = await lockCurrent(tx, given)
    const dropped = writes.flatMap((write) => write.dropped.map((provider) => ({ rom_id: write.rom_id, provider })))
    if (dropped.length > 0) {
      await tx.query(`delete from rom_matches m using jsonb_to_recordset($1::jsonb) as d(rom_id int, provider text)
        where m.rom_id = d.rom_id and m.provider = d.provider`, [toDatabaseJson(dropped)])
    }
    const matches = writes.flatMap((write) => [...write.matches].map(([provider, match]) => ({
      rom_id: write.rom_id, provider, provider_id: idOf(match)?.toString() ?? null, match,
      explanation: write.explanations.get(provider)
    })))
    if (matches.length > 0) {
      await tx.query(`insert into rom_matches (rom_id, provider, provider_id, match, explanation)
        select * from jsonb_to_recordset($1::jsonb) as m(rom_id int, provider text, provider_id text, match jsonb,
          explanation jsonb)
        on conflict (rom_id, provider) do update set provider_id = excluded.provider_id, match = excluded.match,
          explanation = coalesce(excluded.explanation, rom_matches.explanation), updated_at = now()`, [toDatabaseJson(matches)])
    }
    const merged = writes.map((write) => ({ id: write.rom_id, ...write.merged }))
    await tx.query(UPDATE_MERGED, [toDatabaseJson(merged)])
    await writeEdits(tx, writes)
    return writes.map((write) => write.rom_id)
  })
}
