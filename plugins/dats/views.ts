import { formatDate } from '../../core/typebox.ts'
import type { DatRow } from './dat-rows.ts'
import type { DatCounts } from './lists/list-rows.ts'
import type { MisnamedRom } from './rename/rename-rows.ts'
import type { DatRenameView, DatView } from './schemas.ts'

export function toDatView (row: DatRow, counts: DatCounts | undefined): DatView {
  const { have_count: have = 0, extra_count: extra = 0 } = counts ?? {}
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    version: row.version || row.date,
    author: row.author,
    folder_path: row.folder_path,
    platform_slugs: row.platform_slugs,
    is_platform_chosen: row.is_platform_chosen,
    platform_ids: row.platform_ids,
    game_count: row.game_count,
    file_count: row.file_count,
    have_count: have,
    miss_count: row.game_count - have,
    extra_count: extra,
    created_at: formatDate(row.created_at),
    updated_at: formatDate(row.updated_at)
  }
}

/** @param refusal the reason why the ROM keeps its name; null if it gets the new one */
export function toDatRenameView (rom: MisnamedRom, refusal: string | null): DatRenameView {
  const { rom_id: id, platform_id: platformId, fs_name: fsName, new_name: newName } = rom
  return { rom_id: id, platform_id: platformId, fs_name: fsName, new_name: newName, refusal }
}
