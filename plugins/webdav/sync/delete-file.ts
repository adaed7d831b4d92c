import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import { ApiError } from '../../../core/errors.ts'
import { type DeviceContext, requireSender } from '../acting-device.ts'
import {
  type FileRow, countLive, currentSha1, lockFiles, lockPath, selectByPath, selectDeleted, selectListings,
  selectSameFile, storeDeletion, storeDeviceDeletion
} from '../rows.ts'
import { BURST_SECONDS, isBurst } from './bursts.ts'
import type { Precondition } from './precondition.ts'
import type { Key } from './read-key.ts'

/** Creates the deletion of files by devices. */
export function createDeletions (app: FastifyInstance) {
  const { changes } = app.assets

  async function deleteContent (context: DeviceContext, { id, asset }: FileRow): Promise<void> {
    if (asset !== null) await changes.delete(context, asset.kind, await selectSameFile(context.db, asset.id, null))
    await storeDeletion(context.db, id, true)
  }

  /** Restores content whose asset was deleted by this user within the seconds of a burst. */
  async function restoreAssets (context: Context, { asset }: FileRow, seconds: number): Promise<void> {
    if (asset === null || asset.deleted_by !== 'owner') return
    for (const id of await selectSameFile(context.db, asset.id, seconds)) {
      await changes.restore(context, { kind: asset.kind, id })
    }
  }

  /** Restores deleted content. @returns false if there is nothing to restore, or a new file has its name */
  async function restore (context: Context, row: FileRow, seconds: number): Promise<boolean> {
    if (currentSha1(row) !== null || (row.asset === null && row.disk_path === null)) return false
    try {
      await context.db.transact(async (tx) => {
        await lockFiles(tx, context.caller.id)
        await restoreAssets({ ...context, db: tx }, row, seconds)
        await storeDeletion(tx, row.id, false)
      })
      return true
    } catch (err) {
      if (err instanceof ApiError) return false
      throw err
    }
  }

  async function restoreBurst (context: DeviceContext, fileIds: readonly number[]): Promise<number> {
    let count = 0
    for (const row of await selectDeleted(context, fileIds)) {
      if (await restore(context, row, BURST_SECONDS)) count++
    }
    return count
  }

  /** @returns the number of files that were restored, because the device deleted too many */
  async function deleteListed (context: DeviceContext, key: Key, check: Precondition): Promise<number> {
    const { db: tx, caller, device } = context
    const id = await lockPath(tx, caller.id, key, 0)
    const row = id === null ? null : await selectByPath(context, key.folded)
    const sha1 = row === null ? null : currentSha1(row)
    check(row)
    if (row === null || sha1 === null) return 0
    const listed = (await selectListings(tx, device.id, row.id)).get(row.id)?.listed ?? null
    // The content changed after the device read the list: its user did not see the content that would be deleted.
    if (listed !== null && listed !== sha1) return 0
    const fileCount = await countLive(tx, caller.id)
    const deletions = await storeDeviceDeletion(tx, { deviceId: device.id, fileId: row.id, seconds: BURST_SECONDS })
    if (isBurst(deletions.length, fileCount + deletions.length - 1)) return await restoreBurst(context, deletions)
    await deleteContent(context, row)
    return 0
  }

  return {
    /**
     * Deletes a file for its owner, who can restore it. A path that changed since it was listed stays, and so do all
     * files of a device that deletes many at once.
     *
     * @throws ApiError FORBIDDEN, INSUFFICIENT_PERMISSIONS, and that of `check`
     */
    async delete (context: DeviceContext, key: Key, check: Precondition): Promise<void> {
      requireSender(context)
      const { db, caller, device } = context
      const restored = await db.transact((tx) => deleteListed({ ...context, db: tx }, key, check))
      if (restored === 0) return
      app.log.warn({ user: caller.username, device: device.device_id, files: restored }, 'a device deleted many files at once; they were restored')
      await app.notifications.notify({
        kind: 'deletions_reverted', to: [caller.id], data: { device_name: device.name ?? device.device_id, count: restored }
      })
    },

    restore
  }
}
