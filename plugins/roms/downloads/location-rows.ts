import { sql } from 'kysely'
import type { Context } from '../../../core/access/context.ts'
import { type Condition, allOf } from '../../../core/database/conditions.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { romTables } from '../rows.ts'
import { isRomVisible } from '../visibility.ts'

/** A ROM with the library and folder that contain it. */
export interface RomLocation {
  id: number
  library_id: number
  fs_name: string
  fs_path: string
  is_folder: boolean
  platform_fs_slug: string
}

/** Loads the ROMs that meet a condition and that the caller sees, by name. */
export async function selectPlaces ({ db, caller }: Context<AnyCaller>, condition: Condition): Promise<RomLocation[]> {
  const { rows } = await sql<RomLocation>`
    select r.id, r.library_id, r.fs_name, r.fs_path, r.is_folder, p.fs_slug as platform_fs_slug
    from ${romTables(caller?.id ?? null)} where ${allOf([isRomVisible(caller), condition])}
    order by r.name_sort_key, r.id`.execute(db)
  return rows
}
