import type { Db } from '../../../core/database/db.ts'
import { conflict } from '../../../core/errors.ts'
import type { Device } from '../../devices/entities.ts'
import { baseKeysOf, nameKey, slotKey, stampBase } from '../base-rows.ts'
import { type Asset, AssetVersion, DeviceSync } from '../entities.ts'
import type { DownloadedInput } from '../schemas.ts'
import { isBase } from './rows.ts'

type DatedContent = Pick<Asset, 'sha1' | 'content_hash'> & { at: Date }

/** Returns the content that a device says it holds. @throws ApiError CONFLICT if the asset never had this content */
async function findDeviceContent (tx: Db, asset: Asset, input: DownloadedInput): Promise<DatedContent> {
  const contentHash = input.content_hash?.toLowerCase() ?? null
  const current = { sha1: asset.sha1, content_hash: contentHash ?? asset.content_hash, at: asset.updated_at }
  const sha1 = input.sha1?.toLowerCase() ?? null
  const isOther = sha1 === null ? current.content_hash !== asset.content_hash : sha1 !== asset.sha1
  if (!isOther) return current
  const version = await tx.em.findOne(AssetVersion,
    { asset, ...(sha1 === null ? { content_hash: contentHash } : { sha1 }) }, { orderBy: { id: 'desc' } })
  if (version !== null) {
    return { sha1: version.sha1, content_hash: version.content_hash ?? null, at: version.content_updated_at }
  }
  // Only an unknown SHA-1 is a conflict, because a device may compute its content hash in another way.
  if (sha1 === null) return current
  throw conflict(`'${asset.file_name}' never had the SHA-1 '${sha1}'; download it again`)
}

async function stamp (tx: Db, device: Device, asset: Asset, content: DatedContent): Promise<void> {
  await tx.em.upsert(DeviceSync, {
    device: device.id, asset: asset.id, last_synced_at: content.at, is_untracked: false
  })
  if (asset.rom === null || asset.rom === undefined) return
  for (const key of baseKeysOf(asset)) {
    await stampBase(tx, {
      device_id: device.id,
      rom_id: asset.rom.id,
      kind: asset.kind,
      key,
      sha1: content.sha1,
      content_hash: content.content_hash ?? null,
      updated_at: content.at
    })
  }
}

/** Stores the content that a device sent as its base. */
export async function stampUpload (
  tx: Db, device: Device, asset: Asset, contentHash: string | undefined
): Promise<void> {
  await stamp(tx, device, asset, {
    sha1: asset.sha1, content_hash: contentHash?.toLowerCase() ?? asset.content_hash, at: asset.updated_at
  })
}

/** Stores the content that a device confirms to hold as its base. @throws ApiError CONFLICT */
export async function stampDownload (tx: Db, device: Device, asset: Asset, input: DownloadedInput): Promise<void> {
  await stamp(tx, device, asset, await findDeviceContent(tx, asset, input))
}

/** True if the content of a save is its base with a device, as in a negotiation. */
export async function isBaseOf (tx: Db, device: Device, asset: Asset): Promise<boolean> {
  const { rom, kind, slot, file_name: name, sha1, content_hash: hash } = asset
  const key = slot === null || slot === undefined ? nameKey(name) : slotKey(slot)
  return await isBase(tx, {
    device_id: device.id, rom_id: rom?.id ?? null, kind, key, sha1, content_hash: hash ?? null
  })
}

/** Returns the time when a device last synced a save; null for never. */
export async function findLastSync (tx: Db, device: Device, asset: Asset): Promise<Date | null> {
  const row = await tx.em.findOne(DeviceSync, { device: device.id, asset: asset.id }, { refresh: true })
  return row?.last_synced_at ?? null
}
