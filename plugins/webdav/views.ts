import { formatDate } from '../../core/typebox.ts'
import type { FileRow } from './rows.ts'
import type { UnassignedFileView, WebdavFileView } from './schemas.ts'
import type { UnassignedFile } from './sync/assign-file.ts'

export function toFileView ({ asset, ...row }: FileRow): WebdavFileView {
  return {
    id: row.id,
    path: row.path,
    kind: asset?.kind ?? null,
    asset_id: asset?.id ?? null,
    rom_id: asset?.is_reachable === true ? asset.rom_id : null,
    file_size_bytes: asset?.file_size_bytes ?? row.file_size_bytes,
    is_deleted: asset === null ? row.is_deleted : asset.deleted_by === 'owner',
    updated_at: formatDate(asset?.updated_at ?? row.updated_at)
  }
}

export const toUnassignedView = ({ row, candidates }: UnassignedFile): UnassignedFileView => ({
  ...toFileView(row),
  candidates: candidates.map(({ rom_id: id, rom_name: name, fs_slug: folder }) =>
    ({ rom_id: id, rom_name: name, platform_fs_slug: folder }))
})
