import { LockMode } from '@mikro-orm/postgresql'
import { requireGrant } from '../../../core/access/auth.ts'
import type { Context } from '../../../core/access/context.ts'
import { badRequest, conflict, notFound } from '../../../core/errors.ts'
import type { Device } from '../../devices/entities.ts'
import { stampDownload, stampUpload } from '../device-sync/device-stamps.ts'
import { Asset, type AssetKind, type AssetRef, AssetVersion } from '../entities.ts'
import type { StagedFile } from '../asset-files.ts'
import { assetNotFound, getAllOwn, getOwn, getOwnOrDeleted } from '../read-assets.ts'
import type { AssetRow } from '../rows.ts'
import type { DownloadedInput, ReplaceInput } from '../schemas.ts'
import { readMtime } from './read-upload.ts'
import { type ThumbnailStore, readThumbnail } from './thumbnail-store.ts'
import type { AssetWriting } from './upload-assets.ts'
import type { RomNames } from './write-rows.ts'
import { type NewContent, folderOf, laterThan, restoreVersion, sameGame } from './write-assets.ts'
import type { WriteContext, WriteKey } from './write-transaction.ts'

/** Returns the assets whose writes are serialized with those of an asset. */
export const lineageOf = (row: AssetRow): WriteKey => ({ user_id: row.user_id, rom_id: row.rom_id, kind: row.kind })

/** Returns the names of the current or former ROM of an asset. */
function romPathOf (asset: Asset): RomNames {
  return { id: asset.rom?.id ?? 0, fs_name: asset.rom_fs_name, platform_fs_slug: asset.platform_fs_slug }
}

/** Returns the content folder of an asset, below the folder of its user. */
export const ownFolder = (asset: Asset): string => folderOf(asset, romPathOf(asset), asset.emulator ?? null)

/** Loads and locks an asset. @throws ApiError NOT_FOUND */
export async function load ({ tx }: WriteContext, ref: AssetRef, isDeleted = false): Promise<Asset> {
  const asset = await tx.em.findOne(Asset, { id: ref.id, kind: ref.kind, deleted_at: isDeleted ? { $ne: null } : null },
    { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (asset === null) throw assetNotFound(ref)
  return asset
}

async function findVersion ({ tx }: WriteContext, asset: Asset, id: number): Promise<AssetVersion> {
  // The row lock makes concurrent thinning skip this version.
  const version = await tx.em.findOne(AssetVersion, { id, asset }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (version === null) throw notFound(`Version with ID '${id}' of '${asset.file_name}' not found`)
  return version
}

export const isDeleted = ({ deleted_at: at }: Asset): boolean => at !== null && at !== undefined

/** Restores a deleted asset with its picture. @throws ApiError CONFLICT if another asset has its name by now */
export async function restoreAsset (thumbnails: ThumbnailStore, writing: WriteContext, asset: Asset): Promise<void> {
  const { kind, file_name: name, slot, user, deleted_at: deletedAt } = asset
  const same = { user, ...sameGame(asset), kind, slot: slot ?? null, file_name: name, deleted_at: null }
  if (await writing.tx.em.count(Asset, same) > 0) throw conflict(`There is another '${name}' now; delete that first`)
  writing.tx.em.assign(asset, { deleted_at: null, deleted_by: null })
  await writing.tx.em.flush()
  if (deletedAt !== null && deletedAt !== undefined) await thumbnails.restore(writing, asset, deletedAt)
}

/** Creates the deletion of assets, and its reversal. */
function createDeletions ({ writes, thumbnails }: Pick<AssetWriting, 'writes' | 'thumbnails'>) {
  return {
    /**
     * Deletes assets of the caller: all, or none if one is missing. Deleted assets can be restored for a while.
     *
     * @throws ApiError BAD_REQUEST, NOT_FOUND, INSUFFICIENT_PERMISSIONS
     */
    async delete (context: Context, kind: AssetKind, ids: readonly number[]): Promise<void> {
      const { db, caller } = context
      requireGrant(caller, 'assets', 'delete', true)
      const uniqueIds = [...new Set(ids)]
      if (uniqueIds.length === 0) throw badRequest('The request has no id; send at least one')
      const rows = await getAllOwn(context, kind, uniqueIds)
      await writes.run(db, rows.map(lineageOf), async (writing) => {
        const assets = await writing.tx.em.find(Asset, { id: uniqueIds, deleted_at: null })
        for (const asset of assets) writing.tx.em.assign(asset, { deleted_at: writing.now, deleted_by: 'owner' })
        await writing.tx.em.flush()
        if (kind !== 'screenshot') await thumbnails.delete(writing, assets)
      })
    },

    /** Restores a deleted asset. @throws ApiError NOT_FOUND, CONFLICT if another asset has its name by now */
    async restore (context: Context, ref: AssetRef): Promise<void> {
      const row = await getOwnOrDeleted(context, ref)
      await writes.run(context.db, [lineageOf(row)], async (writing) => {
        await restoreAsset(thumbnails, writing, await load(writing, ref, true))
      })
    }
  }
}

/** Changes of stored assets; no change loses content. */
export function createChanges ({ writes, devices, thumbnails }: AssetWriting) {
  /** Runs `work` on an asset of the caller, after all other writes to its lineage. @throws ApiError NOT_FOUND */
  async function change<T> (
    context: Context, ref: AssetRef, work: (writing: WriteContext, asset: Asset) => Promise<T>
  ): Promise<T> {
    const row = await getOwn(context, ref)
    return await writes.run(context.db, [lineageOf(row)],
      async (writing) => await work(writing, await load(writing, ref)))
  }

  return {
    ...createDeletions({ writes, thumbnails }),

    /** Replaces the content under the same name. */
    async replace (
      context: Context, ref: AssetRef<'save' | 'state'>, input: ReplaceInput,
      { main, screenshot }: { main: StagedFile | null, screenshot: StagedFile | null }
    ): Promise<void> {
      const acting = await devices.findSender(context, input.device_id)
      await getOwn(context, ref)
      const picture = await readThumbnail(screenshot)
      const fileName = await change(context, ref, async (writing, asset) => {
        await devices.lock(writing.tx, acting)
        if (main !== null) {
          const isSame = asset.sha1 === main.sha1
          await writes.replace(writing, asset, {
            file: main,
            folder: ownFolder(asset),
            client_mtime: readMtime(input.mtime),
            device_id: acting?.device.id ?? null
          })
          // Apps go back to a save by sending its content again: this save becomes the newest of its slot.
          if (isSame) asset.updated_at = laterThan(asset.updated_at, writing.now)
          if (acting !== null) await stampUpload(writing.tx, acting.device, asset, input.content_hash)
        }
        if (picture !== null && asset.rom !== null && asset.rom !== undefined) {
          await thumbnails.store(writing, asset, romPathOf(asset), picture)
        }
        return asset.file_name
      })
      await devices.count(context, acting, input.session_id, fileName)
    },

    /** Makes an asset and its picture public for all who see the ROM, or private. */
    setPublic: (context: Context, ref: AssetRef, isPublic: boolean): Promise<void> =>
      change(context, ref, async (writing, asset) => {
        asset.is_public = isPublic
        if (ref.kind !== 'screenshot') await thumbnails.copyVisibility(writing, asset)
      }),

    /** Makes a former content the current one again. */
    restoreVersion: (context: Context, ref: AssetRef, versionId: number): Promise<void> =>
      change(context, ref, async (writing, asset) => {
        await restoreVersion(writing, asset, await findVersion(writing, asset, versionId))
      }),

    /**
     * Adds content to the history without changing the current content. Content that is in the history is not stored
     * twice.
     */
    addVersion: (
      context: Context, ref: AssetRef, file: StagedFile, from: Pick<NewContent, 'client_mtime' | 'device_id'>
    ): Promise<AssetVersion> => change(context, ref, async (writing, asset) => {
      const existing = await writing.tx.em.findOne(AssetVersion, { asset, sha1: file.sha1 })
      return existing ??
        await writes.addVersion(writing, asset, { file, folder: ownFolder(asset), ...from })
    }),

    /** Confirms that a device holds the content that it downloaded. */
    async confirm (context: Context, ref: AssetRef, input: DownloadedInput): Promise<Device> {
      await getOwn(context, ref)
      const device = await devices.require(context, input.device_id)
      const acting = { device, is_named: true }
      await change(context, ref, async (writing, asset) => {
        await devices.lock(writing.tx, acting)
        await stampDownload(writing.tx, device, asset, input)
      })
      await devices.count(context, acting, undefined, '')
      return device
    }
  }
}
export type Changes = ReturnType<typeof createChanges>
