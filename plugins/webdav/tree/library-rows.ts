import { sql } from 'kysely'
import { selectMilliseconds } from '../../../core/database/columns.ts'
import { isPlatformVisible } from '../../platforms/visibility.ts'
import { isRomVisible } from '../../roms/visibility.ts'
import type { Owner } from '../rows.ts'

/** Entries that are loaded at a time. */
const PAGE = 2_000

/** Selects the folder names of all platforms with a visible ROM on the disk. */
export async function selectPlatformFolders ({ db, caller }: Owner): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select p.fs_slug as name from platforms p where ${isPlatformVisible(caller)}
    and exists (select 1 from roms r where r.platform_id = p.id and not r.missing_from_fs and ${isRomVisible(caller)})
    order by p.fs_slug`.execute(db)
  return rows.map((row) => row.name)
}

/** A ROM as an entry of its platform folder; times are milliseconds since 1970. */
export interface RomEntry {
  id: number
  fs_name: string
  fs_path: string
  is_folder: boolean
  /** Facts of the only file of a ROM that is no folder. */
  file_id: number | null
  file_size_bytes: number
  modified_at: number | null
}

/** Selects the entries of a platform folder. If two libraries have the same name there, the first library counts. */
const entriesOf = ({ caller }: Owner, platform: string) => sql`select distinct on (r.fs_name) r.id, r.fs_name, r.fs_path, r.is_folder
  from roms r join platforms p on p.id = r.platform_id
  where p.fs_slug = ${platform} and not r.missing_from_fs and ${isPlatformVisible(caller)} and ${isRomVisible(caller)}`

async function selectEntries (
  owner: Owner, platform: string, { only = null, after = null }: { only?: string | null, after?: string | null }
): Promise<RomEntry[]> {
  const { rows } = await sql<RomEntry>`select e.*, f.id as file_id, coalesce(f.file_size_bytes, 0)::float8 as file_size_bytes,
      ${selectMilliseconds('f.last_modified')} as modified_at
    from (${entriesOf(owner, platform)} and (${only}::text is null or r.fs_name = ${only})
      and (${after}::text is null or r.fs_name > ${after}) order by r.fs_name, r.library_id limit ${PAGE}) e
    left join lateral (select * from rom_files f where f.rom_id = e.id and not e.is_folder order by f.id limit 1) f on true
    order by e.fs_name`.execute(owner.db)
  return rows
}

/** Lists the entries of a platform folder by name, page by page. */
export async function * listEntries (owner: Owner, platform: string): AsyncGenerator<RomEntry> {
  for (let after: string | null = null; ;) {
    const page: RomEntry[] = await selectEntries(owner, platform, { after })
    yield * page
    const last: RomEntry | undefined = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = last.fs_name
  }
}

export async function selectEntry (owner: Owner, platform: string, name: string): Promise<RomEntry | null> {
  return (await selectEntries(owner, platform, { only: name }))[0] ?? null
}

/** A file within the folder of a ROM. */
export interface InnerFile {
  id: number
  file_name: string
  file_path: string
  file_size_bytes: number
  modified_at: number
}

/** Selects all files within a folder ROM. */
export async function selectInnerFiles ({ db }: Owner, romId: number): Promise<InnerFile[]> {
  const { rows } = await sql<InnerFile>`select f.id, f.file_name, f.file_path, f.file_size_bytes::float8 as file_size_bytes,
      ${selectMilliseconds('f.last_modified')} as modified_at
    from rom_files f where f.rom_id = ${romId} order by f.file_path, f.file_name`.execute(db)
  return rows
}
