import { formatDate } from '../../core/typebox.ts'
import type { TrashedItem } from './rows.ts'
import type { TrashItemView } from './schemas.ts'

const DAY_MS = 86_400_000

export const toTrashView = (item: TrashedItem, keepDays: number, problem: string | null): TrashItemView => ({
  id: item.id,
  kind: item.kind,
  rom_id: item.rom_id,
  name: item.name,
  platform_id: item.platform_id,
  platform_fs_slug: item.platform_fs_slug,
  library_id: item.library_id,
  full_path: `${item.file_path}/${item.file_name}`,
  is_folder: item.is_folder,
  file_size_bytes: item.file_size_bytes,
  deleted_at: formatDate(item.deleted_at),
  deleted_by: item.deleted_by,
  kept_until: formatDate(item.deleted_at + keepDays * DAY_MS),
  problem
})
