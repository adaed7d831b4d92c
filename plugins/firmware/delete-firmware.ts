import type { Context } from '../../core/access/context.ts'
import { ApiError } from '../../core/errors.ts'
import { isNotFoundError } from '../../core/files/fs-error.ts'
import { reasonOf } from '../library/directory.ts'
import type { FirmwareFolders } from './folder.ts'
import { unknownFirmware } from './read-firmware.ts'
import { type FirmwareWithPlatform, deleteFirmware, selectPlacedFirmware } from './rows.ts'
import type { BulkResult, DeleteFirmware } from './schemas.ts'
import type { FirmwareCaller, FirmwareServices } from './services.ts'

/** Deletes the file of a row. @returns the problem, and whether the row stays because of it */
async function removeFile (
  folders: FirmwareFolders, row: FirmwareWithPlatform
): Promise<{ error: string, keepsRow: boolean } | null> {
  try {
    await folders.remove(row)
    return null
  } catch (err) {
    const reason = err instanceof ApiError ? err.message : reasonOf(err)
    const error = `Failed to delete firmware ${row.id}: ${reason}`
    return { error, keepsRow: !isNotFoundError(err) }
  }
}

async function deleteAll (
  { folders, isVisible }: FirmwareServices, { db, caller }: Context<FirmwareCaller>, input: DeleteFirmware
): Promise<BulkResult> {
  const ids = [...new Set(input.firmware)]
  const withFile = new Set(input.delete_from_fs)
  const rows = new Map((await selectPlacedFirmware(db, isVisible(caller), { ids })).map((row) => [row.id, row]))
  const failed = new Map<number, string>()
  const deletedIds: number[] = []
  for (const id of ids) {
    const row = rows.get(id)
    const failure = row !== undefined && withFile.has(id) ? await removeFile(folders, row) : null
    if (row === undefined) failed.set(id, unknownFirmware(id))
    else if (failure !== null) failed.set(id, failure.error)
    if (row !== undefined && failure?.keepsRow !== true) deletedIds.push(id)
  }
  await deleteFirmware(db, deletedIds)
  return {
    successful_items: ids.length - failed.size, failed_ids: [...failed.keys()], errors: [...failed.values()]
  }
}

/**
 * Deletes firmware from the list, and the named files from disk. Firmware whose file cannot be deleted stays in
 * both.
 */
export const deleteFromList = (
  services: FirmwareServices, context: Context<FirmwareCaller>, input: DeleteFirmware
): Promise<BulkResult> => services.runAlone(() => deleteAll(services, context, input))
