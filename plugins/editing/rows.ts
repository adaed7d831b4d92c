import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { romColumnsIn, selectRomColumns } from '../roms/rom-columns.ts'
import { romTables } from '../roms/rows.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { ProviderMatches } from '../matching/matches.ts'
import type { SourcedRom } from './field-sources.ts'

/** Loads the values of a ROM with all its matches; null if the ROM does not exist or is not visible. */
export async function selectSourced (
  { db, caller }: Context<AnyCaller>, id: number
): Promise<{ rom: SourcedRom, matches: ProviderMatches } | null> {
  const { rows: [row] } = await sql<SourcedRom & { matches: Record<string, object> }>`
    select ${sql.raw(selectRomColumns(romColumnsIn('sourced')))},
      coalesce((select jsonb_object_agg(m.provider, m.match) from rom_matches m where m.rom_id = r.id), '{}') as matches
    from ${romTables(caller?.id ?? null)} where r.id = ${id} and ${isRomVisible(caller)}`.execute(db)
  return row === undefined ? null : { rom: row, matches: new Map(Object.entries(row.matches)) as ProviderMatches }
}
