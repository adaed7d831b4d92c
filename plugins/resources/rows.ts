import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { Viewer } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** Whether there is a ROM with this id, as an address names it, that the viewer sees. */
export async function hasVisibleRom (em: EntityManager, viewer: Viewer, id: string | null): Promise<boolean> {
  const { rows } = await sql`select from roms r join platforms p on p.id = r.platform_id
    where r.id = ${id}::bigint and ${isRomVisible(viewer)}`.execute(em.getKysely())
  return rows.length > 0
}
