import { badRequest } from '../../../core/errors.ts'
import { conflictName, withDateTag } from '../asset-names.ts'
import { Asset } from '../entities.ts'
import { assetNotFound } from '../read-assets.ts'
import {
  NEWEST, findPeers, findPresent, findSame, requireExpectedContent, requireKnownContent
} from './find-same-asset.ts'
import { type Upload, orNull } from './read-upload.ts'
import type { ThumbnailStore } from './thumbnail-store.ts'
import { type NewContent, type Writes, folderOf } from './write-assets.ts'
import type { WriteContext } from './write-transaction.ts'

/** Maximum number of conflict copies of one file. */
const CONFLICT_COPIES_MAX = 10

/** An upload with the name under which it is stored, and the id of the asset that it is a conflict copy of. */
interface NamedUpload extends Upload { file_name: string, conflict_of: number | null }

const toContent = ({ lineage, rom, file, clientMtime, acting }: Upload, emulator: string | null): NewContent =>
  ({ file, folder: folderOf(lineage, rom, emulator), client_mtime: clientMtime, device_id: acting?.device.id ?? null })

/** Creates the storage of the content of uploads, as assets and as conflict copies. */
export function createUploadStore ({ writes, thumbnails }: { writes: Writes, thumbnails: ThumbnailStore }) {
  /** Writes the content again if the file is missing from the disk. */
  async function rewriteMissing (writing: WriteContext, asset: Asset, upload: Upload): Promise<void> {
    if (!asset.missing_from_fs) return
    await writes.replace(writing, asset, toContent(upload, asset.emulator ?? null))
  }

  /** Stores an upload under a name: replaces the peer that has the name, or creates an asset. */
  async function writeAsset (writing: WriteContext, upload: NamedUpload, peers: readonly Asset[]): Promise<Asset> {
    const { lineage, rom, emulator, slot, file, file_name: fileName, acting } = upload
    const existing = peers.find((peer) => peer.file_name === fileName)
    if (existing !== undefined) {
      existing.emulator = emulator
      await writes.replace(writing, existing, toContent(upload, emulator))
      return existing
    }
    return await writes.create(writing, {
      lineage,
      rom,
      file_name: fileName,
      emulator,
      slot,
      is_public: false,
      is_gallery: false,
      origin_device_id: acting?.device.id ?? null,
      conflict_of: upload.conflict_of,
      client_mtime: upload.clientMtime
    }, file, slot === null ? null : peers[0]?.updated_at ?? null)
  }

  async function cleanUp (writing: WriteContext, deletedAssets: readonly Asset[]): Promise<void> {
    for (const asset of deletedAssets) writing.tx.em.assign(asset, { deleted_at: writing.now, deleted_by: 'cleanup' })
    await writing.tx.em.flush()
    if (deletedAssets.length > 0) await thumbnails.delete(writing, deletedAssets)
  }

  /** Stores the other side of a conflict as a copy beside the original. */
  async function writeConflictCopy (writing: WriteContext, upload: Upload, originalId: number): Promise<Asset> {
    const { lineage: { user_id: user, rom_id: rom, kind }, acting, file } = upload
    const original = await writing.tx.em.findOne(Asset, { id: originalId, user, rom, kind, deleted_at: null })
    if (original === null) throw assetNotFound({ kind, id: originalId })
    if (typeof original.conflict_of === 'number') {
      throw badRequest(`'${original.file_name}' is itself a conflict copy; replace it, or keep the content of the server`)
    }
    if (original.sha1 === file.sha1) return original
    const copies = await writing.tx.em.find(Asset, { user, kind, conflict_of: original.id, deleted_at: null }, NEWEST)
    const same = copies.find((copy) => copy.sha1 === file.sha1)
    if (same !== undefined) return same
    const device = acting?.device
    const label = device === undefined ? 'unknown' : orNull(device.name?.trim()) ?? device.device_id.slice(0, 8)
    const copy = await writeAsset(writing, {
      ...upload,
      slot: null,
      emulator: original.emulator ?? null,
      file_name: conflictName(original.file_name, writing.now, label),
      conflict_of: original.id
    }, copies)
    await cleanUp(writing, copies.filter((other) => other !== copy).slice(CONFLICT_COPIES_MAX - 1))
    return copy
  }

  /** @returns the asset that stores the upload, and whether it is now the base of the device */
  async function store (writing: WriteContext, upload: Upload): Promise<{ asset: Asset, isCurrent: boolean }> {
    const { input, slot, name } = upload
    if (input.conflict_of !== undefined) {
      return { asset: await writeConflictCopy(writing, upload, input.conflict_of), isCurrent: false }
    }
    const peers = await findPeers(writing, upload)
    await requireKnownContent(writing, upload, peers)
    const same = await findSame(writing, upload, peers)
    if (same !== null) {
      await rewriteMissing(writing, same, upload)
      return { asset: same, isCurrent: slot === null || same === findPresent(peers) }
    }
    requireExpectedContent(upload, peers)
    const fileName = slot === null ? name : withDateTag(name, writing.now)
    const named = { ...upload, file_name: fileName, conflict_of: null }
    return { asset: await writeAsset(writing, named, peers), isCurrent: true }
  }

  return { store, cleanUp }
}
