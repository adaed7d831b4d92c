import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { Viewer } from '../platforms/visibility.ts'
import { isCollectionVisible, isRomVisible } from '../roms/visibility.ts'

/** Whether there is a ROM with this id, as an address names it, that the viewer sees. */
export async function hasVisibleRom (em: EntityManager, viewer: Viewer, id: string | null): Promise<boolean> {
  const { rows } = await sql`select from roms r join platforms p on p.id = r.platform_id
    where r.id = ${id}::bigint and ${isRomVisible(viewer)}`.execute(em.getKysely())
  return rows.length > 0
}

/** Whether there is a collection with this id, as an address names it, that the viewer sees. */
export async function hasVisibleCollection (em: EntityManager, viewer: Viewer, id: string): Promise<boolean> {
  const { rows } = await sql`select from collections c where c.id = ${id}::bigint and ${isCollectionVisible(viewer)}`
    .execute(em.getKysely())
  return rows.length > 0
}
