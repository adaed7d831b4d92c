import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import type { PlatformRow, PlatformSize } from './views.ts'
import { type AnyCaller, isPlatformVisible, canSeeEverything } from './visibility.ts'

type StoredPlatform = Omit<PlatformRow, keyof PlatformSize>

/** A condition on `platforms` aliased `p`. */
export type PlatformCondition = RawBuilder<boolean>

export const hasPlatformId = (id: number): PlatformCondition => sql<boolean>`p.id = ${id}`
const ALL: PlatformCondition = sql<boolean>`true`

/** Loads the platforms that a caller sees, by name. */
export async function selectPlatforms (
  { db, caller }: Context<AnyCaller>, condition = ALL
): Promise<StoredPlatform[]> {
  const { rows } = await sql<StoredPlatform>`
    select p.id, p.slug, p.fs_slug, p.name, p.custom_name, p.description, p.missing_from_fs,
      ${selectMilliseconds('p.created_at')} as created_at, ${selectMilliseconds('p.updated_at')} as updated_at
    from platforms p where ${isPlatformVisible(caller)} and ${condition} order by p.name, p.id`.execute(db)
  return rows
}

/** Loads the folders of platforms that are hidden from a caller. */
export async function selectHiddenFolders ({ db, caller }: Context<AnyCaller>): Promise<Set<string>> {
  if (canSeeEverything(caller)) return new Set()
  const { rows } = await sql<{ fs_slug: string }>`
    select p.fs_slug from platforms p where not (${isPlatformVisible(caller)})`.execute(db)
  return new Set(rows.map((row) => row.fs_slug))
}

/**
 * Inserts or updates a folder's row; `updated_at` moves only if something changed. A folder that had a row before gets
 * its id and the texts of people back.
 */
export async function upsertPlatform (
  db: Db, row: { fs_slug: string, slug: string, name: string }
): Promise<{ id: number, isNew: boolean }> {
  const { rows: [known] } = await sql<{ id: number }>`select id from platforms where fs_slug = ${row.fs_slug}
    and slug = ${row.slug} and name = ${row.name} and not missing_from_fs`.execute(db)
  // Skip the write of an unchanged row, because it would wait for the disk and count as a change of the library.
  if (known !== undefined) return { id: known.id, isNew: false }
  const { rows } = await sql<{ id: number, is_new: boolean }>`
    with former as (delete from former_platforms where fs_slug = ${row.fs_slug} returning id, custom_name, description)
    insert into platforms as p (id, fs_slug, slug, name, custom_name, description)
    select coalesce(former.id, nextval('platforms_id_seq')), ${row.fs_slug}, ${row.slug}, ${row.name}, former.custom_name,
      former.description from (select 1) one left join former on true
    on conflict (fs_slug) do update set slug = excluded.slug, name = excluded.name, missing_from_fs = false,
      updated_at = case when (p.slug, p.name, p.missing_from_fs) is distinct from (excluded.slug, excluded.name, false)
        then now() else p.updated_at end
    returning id, xmax = 0 as is_new`.execute(db)
  const [written] = rows
  if (written === undefined) throw new Error(`Platform '${row.fs_slug}' was not stored`)
  return { id: written.id, isNew: written.is_new }
}

/** Number of ROMs that one statement deletes, with all dependent rows. This takes a second on a slow machine. */
const DELETED_AT_ONCE = 5_000

/**
 * Deletes a platform's row and those of its ROMs, in statements that each stay within the time limit of a statement.
 */
export async function deletePlatform (tx: Db, id: number): Promise<void> {
  const deleteSome = sql`delete from roms where id in (
    select id from roms where platform_id = ${id} limit ${DELETED_AT_ONCE})`
  for (let deleted = 1n; deleted > 0n;) {
    deleted = (await deleteSome.execute(tx)).numAffectedRows ?? 0n
  }
  await sql`delete from platforms where id = ${id}`.execute(tx)
}
