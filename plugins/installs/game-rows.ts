import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** Properties of a ROM that a device needs for the installation. */
export interface Game { name: string, platform_slug: string, file_ids: number[] }

/** Categories of files that a device fetches, besides files without a category: the game, updates and DLC. */
const INSTALLABLE = ['game', 'update', 'dlc']

/** Returns a ROM with its installable files; null if it does not exist or is hidden from the caller. */
export async function findGame ({ db, caller }: Context<AnyCaller>, romId: number): Promise<Game | null> {
  const { rows: [game] } = await sql<Game>`select coalesce(r.name, r.fs_name_no_tags) as name, p.slug as platform_slug,
      array(select f.id from rom_files f where f.rom_id = r.id and not r.missing_from_fs
        and (f.category is null or f.category = any(${INSTALLABLE}::text[])) order by f.id) as file_ids
    from roms r join platforms p on p.id = r.platform_id
    where r.id = ${romId} and ${isRomVisible(caller)}`.execute(db)
  return game ?? null
}
