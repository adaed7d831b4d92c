import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { StoredFile } from '../roms/stored-files.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** Returns the files with these ids, of ROMs that the caller sees. */
export async function selectStoredFiles (
  { db, caller }: Context<AnyCaller>, ids: readonly number[]
): Promise<Map<number, StoredFile>> {
  const { rows } = await sql<StoredFile & { id: number }>`
    select f.id, r.library_id, f.file_name, f.file_path, r.fs_path, p.fs_slug as platform_fs_slug
    from rom_files f join roms r on r.id = f.rom_id join platforms p on p.id = r.platform_id
    where f.id = any(${ids}::int[]) and ${isRomVisible(caller)}`.execute(db)
  return new Map(rows.map(({ id, ...file }) => [id, file]))
}
