import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import type { Db } from '../../../core/database/db.ts'
import { ApiError, notFound } from '../../../core/errors.ts'
import { openIfPresent } from '../../../core/store/open-object.ts'
import type { StoredObject } from '../../../core/store/store.ts'
import { type StagedFile, contentKey } from '../../assets/asset-files.ts'
import type { DeviceContext } from '../acting-device.ts'
import { webdavConfig } from '../config.ts'
import { type FileRow, countOwnBytes, dropDeleted, storeContent } from '../rows.ts'

/** The folder of these files, below the folder of a user. */
export const OWN_FOLDER = 'webdav'
/** Names on disk tell nothing, because the names of clients may be anything. */
const DISK_NAME = 'content'

/** Creates the storage of files that are no assets: configurations, thumbnails and system files. */
export function createOwnFiles (app: FastifyInstance, config: Config) {
  const { quota_bytes: quota } = webdavConfig.of(config)

  async function remove (paths: readonly string[]): Promise<void> {
    await app.store.delete(paths.map(contentKey))
      .catch((err: unknown) => { app.log.warn({ err, paths }, 'files that were replaced through WebDAV could not be deleted') })
  }

  /** Removes files after the commit. */
  function removeLater (tx: Db, paths: readonly (string | null)[]): void {
    tx.afterCommit(() => remove(paths.filter((path) => path !== null)))
  }

  /** Makes room by the content of deleted paths. @throws ApiError NO_FREE_SPACE */
  async function requireRoom ({ db: tx, caller }: DeviceContext, bytes: number): Promise<string[]> {
    if (quota === 0 || await countOwnBytes(tx, caller.id) + bytes <= quota) return []
    const dropped = await dropDeleted(tx, caller.id)
    if (await countOwnBytes(tx, caller.id) + bytes <= quota) return dropped
    throw new ApiError('NO_FREE_SPACE', `Your configurations, thumbnails and system files would take more than ${quota} bytes; ` +
      'sync fewer folders, or ask an administrator to raise WEBDAV_QUOTA_BYTES')
  }

  return {
    /** Replaces the content of a path; the last device wins. */
    async store (context: DeviceContext, row: FileRow, file: StagedFile): Promise<void> {
      if (row.disk_path !== null && row.sha1 === file.sha1 && !row.is_deleted) return
      const former = row.disk_path === null ? 0 : row.file_size_bytes
      const dropped = await requireRoom(context, file.file_size_bytes - former)
      const { sha1, md5, file_size_bytes: size } = file
      const path = await file.publish(OWN_FOLDER, DISK_NAME)
      context.db.afterRollback(() => remove([path]))
      await storeContent(context.db, row.id, {
        sha1, md5, file_size_bytes: size, asset_id: null, rom_id: null, disk_path: path
      })
      removeLater(context.db, [...dropped, row.disk_path])
    },

    /** Opens a file; the caller closes it. @throws ApiError NOT_FOUND if it is not in the store */
    async open ({ path, disk_path: diskPath }: Pick<FileRow, 'path' | 'disk_path'>): Promise<StoredObject> {
      const object = diskPath === null ? null : await openIfPresent(app.store, contentKey(diskPath))
      if (object !== null) return object
      throw notFound(`The content of '${path}' is missing on the disk of the server; restore a backup, or send the file again`)
    },

    removeLater
  }
}
export type OwnFiles = ReturnType<typeof createOwnFiles>
