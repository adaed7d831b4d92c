import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'

export interface NamedPlatform { id: number, fs_slug: string, slug: string }

/** Finds platforms by the names of their folders. */
export async function findPlatforms (db: Db, folders: readonly string[]): Promise<Map<string, NamedPlatform>> {
  const { rows } = await db.query<NamedPlatform>('select id, fs_slug, slug from platforms where fs_slug = any($1::text[])', [folders])
  return new Map(rows.map((row) => [row.fs_slug, row]))
}

interface Texts { custom_name: string | null, description: string | null }

/** Sets the texts that people wrote about platforms, where this server has none. */
export async function fillPlatformTexts (tx: Db, platforms: readonly ({ id: number } & Texts)[]): Promise<void> {
  const written = platforms.filter((one) => one.custom_name !== null || one.description !== null)
  if (written.length === 0) return
  await tx.query(`update platforms p set custom_name = coalesce(p.custom_name, g.custom_name),
      description = coalesce(p.description, g.description), updated_at = now()
    from jsonb_to_recordset($1::jsonb) as g(id int, custom_name text, description text)
    where p.id = g.id and (p.custom_name is null and g.custom_name is not null
      or p.description is null and g.description is not null)`, [toDatabaseJson(written)])
}

/** Reserves ids for platform folders that a later scan finds. A folder that has a row already is skipped. */
export async function reservePlatforms (
  tx: Db, platforms: readonly ({ id: number, fs_slug: string } & Texts)[]
): Promise<void> {
  await tx.query(`insert into former_platforms (fs_slug, id, custom_name, description)
    select g.fs_slug, g.id, g.custom_name, g.description
    from jsonb_to_recordset($1::jsonb) as g(id int, fs_slug text, custom_name text, description text)
    where not exists (select 1 from platforms p where p.fs_slug = g.fs_slug or p.id = g.id)
    on conflict do nothing`, [toDatabaseJson(platforms)])
}
