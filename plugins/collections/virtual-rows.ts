import { sql } from 'kysely'
import type { LongReads } from '../library/long-reads.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { VIRTUAL_TYPES, type VirtualCollection, type VirtualType } from '../roms/virtual-collections.ts'
import { isRomVisible } from '../roms/visibility.ts'
import { COVER, type CoverRow } from './rows.ts'

/** Minimum number of ROMs that share a value of a virtual collection. */
const MEMBERS_MIN = 3
export const COVERS_MAX = 5

export interface VirtualRow extends VirtualCollection {
  rom_count: number
  /** The ids, separated by commas. As numbers, the ids of all collections together would take too much memory. */
  rom_ids: string
  /** Covers of some members that have one. */
  covers: CoverRow[]
}

/** Loads the values of these types that several visible ROMs share, by name. Reads all ROMs. */
export async function selectVirtualCollections (
  reads: LongReads, caller: AnyCaller, types: readonly VirtualType[]
): Promise<VirtualRow[]> {
  const columns = types.map((type) => VIRTUAL_TYPES[type])
  const values = types.map((type) =>
    sql`select ${type}::text as type, unnest(${sql.ref(`s.${VIRTUAL_TYPES[type]}`)}) as name`)
  const { rows } = await sql<VirtualRow>`
    with shown as (
      select r.id, ${sql.join(columns.map((column) => sql.ref(`r.${column}`)))},
        (r.path_cover_small <> '' or r.path_cover_large <> '') as has_cover
      from roms r where ${isRomVisible(caller)}),
    shared as (
      select v.type, v.name, count(*)::int as rom_count, string_agg(s.id::text, ',') as rom_ids,
        (array_agg(s.id) filter (where s.has_cover))[1:${COVERS_MAX}::int] as cover_ids
      from shown s cross join lateral (${sql.join(values, sql` union all `)}) v
      group by v.type, v.name having count(*) >= ${MEMBERS_MIN})
    select c.type, c.name, c.rom_count, c.rom_ids, (
      select coalesce(jsonb_agg(cover), '[]') from (select ${COVER} from roms r where r.id = any(c.cover_ids)) cover) as covers
    from shared c order by lower(c.name), c.name, c.type`.execute(reads)
  return rows
}
