import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** What a device needs to know of a ROM that it is to fetch. */
export interface Game { name: string, platform_slug: string, file_ids: number[] }

/** What a device fetches: the game itself, which has no category where it lies, updates and DLC. */
const INSTALLABLE = ['game', 'update', 'dlc']

/** A ROM as a viewer may have it installed; null when there is none or it is hidden. */
export async function findGame (em: EntityManager, caller: AnyCaller, romId: number): Promise<Game | null> {
  const { rows: [game] } = await sql<Game>`select coalesce(r.name, r.fs_name_no_tags) as name, p.slug as platform_slug,
      array(select f.id from rom_files f where f.rom_id = r.id and not r.missing_from_fs
        and (f.category is null or f.category = any(${INSTALLABLE}::text[])) order by f.id) as file_ids
    from roms r join platforms p on p.id = r.platform_id
    where r.id = ${romId} and ${isRomVisible(caller)}`.execute(em.getKysely())
  return game ?? null
}
