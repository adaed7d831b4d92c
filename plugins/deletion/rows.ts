import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { Viewer } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** A ROM that is to go, and where it lies. */
export interface DoomedRom {
  id: number
  library_id: number
  platform_id: number
  platform_fs_slug: string
  fs_path: string
  fs_name: string
  is_folder: boolean
}

/** Those of some ids that are there and visible, by id. */
export async function selectDoomed (
  em: EntityManager, viewer: Viewer, ids: readonly number[]
): Promise<Map<number, DoomedRom>> {
  const { rows } = await sql<DoomedRom>`select r.id, r.library_id, r.platform_id, p.fs_slug as platform_fs_slug, r.fs_path,
      r.fs_name, r.is_folder
    from roms r join platforms p on p.id = r.platform_id
    where r.id = any(${ids}::int[]) and ${isRomVisible(viewer)}`.execute(em.getKysely())
  return new Map(rows.map((row) => [row.id, row]))
}

export async function deleteRoms (em: EntityManager, ids: readonly number[]): Promise<void> {
  await sql`delete from roms where id = any(${ids}::int[])`.execute(em.getKysely())
}
