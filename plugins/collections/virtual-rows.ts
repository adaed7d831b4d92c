import { sql } from 'kysely'
import type { LongReads } from '../library/long-reads.ts'
import type { Viewer } from '../platforms/visibility.ts'
import { VIRTUAL_TYPES, type VirtualCollection } from '../roms/filters/virtual-collections.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** What fewer ROMs share is no collection. */
const MEMBERS_MIN = 3
export const COVERS_MAX = 5

export interface VirtualRow extends VirtualCollection {
  rom_count: number
  /** The ids with commas between them: all of them together are more than a list of numbers should hold. */
  rom_ids: string
  /** Some members that have a cover. */
  cover_ids: number[]
}

/** The values that ROMs which a viewer sees share, by name. Reads all of them. */
export async function selectVirtualCollections (reads: LongReads, viewer: Viewer): Promise<VirtualRow[]> {
  const columns = Object.values(VIRTUAL_TYPES)
  const values = Object.entries(VIRTUAL_TYPES).map(([type, column]) =>
    sql`select ${type}::text as type, unnest(${sql.ref(`s.${column}`)}) as name`)
  const { rows } = await sql<VirtualRow>`
    with shown as (
      select r.id, ${sql.join(columns.map((column) => sql.ref(`r.${column}`)))},
        (r.path_cover_small <> '' or r.path_cover_large <> '') as has_cover
      from roms r where ${isRomVisible(viewer)})
    select v.type, v.name, count(*)::int as rom_count, string_agg(s.id::text, ',') as rom_ids,
      coalesce((array_agg(s.id) filter (where s.has_cover))[1:${COVERS_MAX}::int], '{}') as cover_ids
    from shown s cross join lateral (${sql.join(values, sql` union all `)}) v
    group by v.type, v.name having count(*) >= ${MEMBERS_MIN} order by lower(v.name), v.name, v.type`.execute(reads)
  return rows
}
