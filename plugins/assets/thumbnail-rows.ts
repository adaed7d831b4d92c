import { type RawBuilder, sql } from 'kysely'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import type { AssetRow } from './rows.ts'

/** Reference to a picture; the time is in milliseconds since 1970. */
export type Thumbnail = Pick<AssetRow, 'id' | 'updated_at'>

const stem = (column: string) => sql`regexp_replace(${sql.ref(column)}, '\\.[^.]*$', '')`

/**
 * Selects the picture of a user's newest save of a ROM that has one, as a {@link Thumbnail}. Selects no row if no save
 * has one.
 *
 * @param condition over the picture, aliased `t`
 */
export const newestThumbnail = (
  of: { user: RawBuilder<unknown>, rom: RawBuilder<unknown> }, condition: RawBuilder<boolean>
) => sql`select jsonb_build_object('id', t.id, 'updated_at', ${selectMilliseconds('t.updated_at')})
  from assets s join assets t on t.user_id = s.user_id and t.rom_id = s.rom_id and t.kind = 'screenshot'
    and not t.is_gallery and t.deleted_at is null and ${condition}
    and (t.file_name in (s.file_name, ${stem('s.file_name')}) or ${stem('t.file_name')} in (s.file_name, ${stem('s.file_name')}))
  where s.user_id = ${of.user} and s.kind = 'save' and s.rom_id = ${of.rom} and s.deleted_at is null
  order by s.updated_at desc, t.updated_at desc limit 1`

/** Selects the picture of a user's newest save of each of these ROMs. */
export async function selectThumbnails (
  db: Db, userId: number, romIds: readonly number[]
): Promise<{ rom_id: number, thumbnail: Thumbnail | null }[]> {
  const thumbnail = newestThumbnail({ user: sql`${userId}`, rom: sql`r.id` }, sql<boolean>`true`)
  const { rows } = await sql<{ rom_id: number, thumbnail: Thumbnail | null }>`
    select r.id as rom_id, (${thumbnail}) as thumbnail from unnest(${romIds}::int[]) as r(id)`.execute(db)
  return rows
}
