import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { mediaTypeOf } from '../resources/media-types.ts'
import { type Files, missingFile } from './asset-files.ts'
import { isPicture } from './asset-names.ts'
import type { ActingDevices } from './device-sync/acting-device.ts'
import { storeDownloadStart } from './device-sync/rows.ts'
import { Asset, type AssetRef } from './entities.ts'
import { getDeleted, getOwnOrDeleted, getReadable, getReadableAt } from './read-assets.ts'
import type { AssetRow } from './rows.ts'
import type { ContentInput } from './schemas.ts'
import { getVersion } from './versions.ts'

/** Opens content with its headers. A browser shows only pictures that are not saves inline. */
async function openContent (files: Files, row: AssetRow, content: { disk_path: string, sha1: string }, at: Date) {
  const object = await files.open(content.disk_path)
  if (object === null) return null
  const type = row.kind === 'save' || !isPicture(row.file_name) ? null : mediaTypeOf(row.file_name)
  return {
    object,
    type: type ?? 'application/octet-stream',
    cacheControl: 'private, no-cache',
    disposition: { type: type === null ? 'attachment' as const : 'inline' as const, fileName: row.file_name },
    validators: { etag: `"${content.sha1}"`, lastModified: at.toUTCString() }
  }
}

/** Opens the content of an asset. @throws ApiError NOT_FOUND if the file is gone from the disk */
async function openCurrent (files: Files, db: Db, row: AssetRow) {
  const content = await openContent(files, row, row, new Date(row.updated_at))
  const isMissing = content === null
  if (row.missing_from_fs !== isMissing) {
    await db.em.nativeUpdate(Asset, { id: row.id, disk_path: row.disk_path }, { missing_from_fs: isMissing })
  }
  if (isMissing) throw missingFile(row.file_name)
  return { row, content }
}

/** Creates access to the current and former content of assets. */
export function createContents (files: Files, devices: ActingDevices) {
  /** Opens the content of the caller's asset, or of a public one. @throws ApiError NOT_FOUND */
  const open = async (context: Context, ref: AssetRef) =>
    await openCurrent(files, context.db, await getReadable(context, ref))

  return {
    open,

    /** Opens the content at the path below the assets folder that clients know. @throws ApiError NOT_FOUND */
    openAt: async (context: Context, path: string) =>
      (await openCurrent(files, context.db, await getReadableAt(context, path))).content,

    /** Opens the content of an asset that the caller deleted and can restore. @throws ApiError NOT_FOUND */
    openDeleted: async (context: Context, ref: AssetRef) =>
      (await openCurrent(files, context.db, await getDeleted(context, ref))).content,

    /** Opens a former content of the caller's asset. @throws ApiError NOT_FOUND */
    async openVersion (context: Context, ref: AssetRef, versionId: number) {
      const row = await getOwnOrDeleted(context, ref)
      const version = await getVersion(context.db, row, versionId)
      const content = await openContent(files, row, version, version.content_updated_at)
      if (content === null) throw missingFile(row.file_name)
      return content
    },

    /** Opens the content like `open`, and stores the transfer for the device. */
    async download (context: Context, ref: AssetRef, input: ContentInput) {
      const { db, caller } = context
      const acting = await devices.find(context, input.device_id, 'devices.read')
      const { row, content } = await open(context, ref)
      try {
        const isOwn = row.user_id === caller.id && ref.kind !== 'screenshot'
        if (isOwn && input.optimistic && acting !== null) {
          // The content may not arrive.
          await storeDownloadStart(db, acting.device.id, row.id, new Date(row.updated_at))
        }
        await devices.count(context, acting, input.session_id, row.file_name)
        return content
      } catch (err) {
        await content.object.close()
        throw err
      }
    }
  }
}
