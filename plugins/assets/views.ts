import { dirname } from 'node:path/posix'
import { parseName } from '../library/names.ts'
import { formatDate } from '../../core/typebox.ts'
import type { Device } from '../devices/entities.ts'
import type { AssetKind, AssetVersion } from './entities.ts'
import type { AssetRow, SyncRow } from './rows.ts'
import type { DeviceSyncView, OwnerView, SaveView, ScreenshotView, StateView, VersionView } from './schemas.ts'

export const PLURALS = { save: 'saves', state: 'states', screenshot: 'screenshots' } as const satisfies Record<AssetKind, string>

/** Returns the download path of an asset. Its timestamp makes caches fetch changed content. */
export const downloadPathOf = (row: Pick<AssetRow, 'kind' | 'id' | 'updated_at'> & Partial<Pick<AssetRow, 'deleted_at'>>) =>
  `/api/${PLURALS[row.kind]}/${typeof row.deleted_at === 'number' ? 'deleted/' : ''}${row.id}/content?timestamp=${
    encodeURIComponent(formatDate(row.updated_at))}`

function toFields (row: AssetRow) {
  const { fs_name_no_ext: stem, fs_name_no_tags: name, fs_extension: extension } = parseName(row.file_name)
  const folder = dirname(row.disk_path)
  return {
    id: row.id,
    rom_id: row.rom_id,
    user_id: row.user_id,
    file_name: row.file_name,
    file_name_no_tags: name,
    file_name_no_ext: stem,
    file_extension: extension,
    file_path: folder,
    full_path: `${folder}/${row.file_name}`,
    file_size_bytes: row.file_size_bytes,
    download_path: downloadPathOf(row),
    missing_from_fs: row.missing_from_fs,
    is_public: row.is_public,
    created_at: formatDate(row.created_at),
    updated_at: formatDate(row.updated_at)
  }
}

const toContent = (row: AssetRow) => ({
  sha1: row.sha1,
  client_mtime: formatDate(row.client_mtime),
  content_device_id: row.content_device_id,
  conflict_of: row.conflict_of
})

export const toScreenshotView = (row: AssetRow): ScreenshotView => ({ ...toFields(row), is_gallery: row.is_gallery })

export const toStateView = (row: AssetRow, screenshot: AssetRow | null): StateView => ({
  ...toFields(row),
  ...toContent(row),
  emulator: row.emulator,
  screenshot: screenshot === null ? null : toScreenshotView(screenshot)
})

export const toSaveView = (row: AssetRow, screenshot: AssetRow | null, syncs: DeviceSyncView[]): SaveView => ({
  ...toStateView(row, screenshot),
  slot: row.slot,
  content_hash: row.content_hash,
  origin_device_id: row.origin_device_id,
  device_syncs: syncs
})

export const toOwnerView = (row: AssetRow): OwnerView =>
  ({ username: row.username, user_avatar_path: row.user_avatar_path, user_updated_at: formatDate(row.user_updated_at) })

/** Returns the sync state of a save on all devices. The given device comes first, even if it never synced the save. */
export function toSyncViews (row: AssetRow, syncs: readonly SyncRow[], device: Device): DeviceSyncView[] {
  const toView = (sync: SyncRow): DeviceSyncView => ({
    device_id: sync.device_uuid,
    device_name: sync.device_name,
    last_synced_at: formatDate(sync.last_synced_at),
    is_untracked: sync.is_untracked,
    is_current: sync.last_synced_at >= row.updated_at
  })
  const own = syncs.find((sync) => sync.device_id === device.id)
  const first: DeviceSyncView = own === undefined
    ? {
        device_id: device.device_id,
        device_name: device.name ?? null,
        last_synced_at: formatDate(row.updated_at),
        is_untracked: false,
        is_current: false
      }
    : toView(own)
  return [first, ...syncs.filter((sync) => sync !== own).map(toView)]
}

export const toVersionView = (of: Pick<AssetRow, 'id' | 'kind'>, version: AssetVersion): VersionView => ({
  id: version.id,
  file_name: version.file_name,
  file_size_bytes: version.file_size_bytes,
  sha1: version.sha1,
  content_hash: version.content_hash ?? null,
  client_mtime: formatDate(version.client_mtime ?? null),
  content_updated_at: formatDate(version.content_updated_at),
  content_device_id: version.content_device?.device_id ?? null,
  created_at: formatDate(version.created_at),
  download_path: `/api/${PLURALS[of.kind]}/${of.id}/versions/${version.id}/content`
})
