import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Caller, requireGrant } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { isNotFoundError } from '../../core/files/fs-error.ts'
import { reasonOf } from '../library/directory.ts'
import { openStoredFile } from '../roms/stored-files.ts'
import { createFirmwareFolders } from './folder.ts'
import { isKnownFirmware } from './known-firmware.ts'
import {
  type FirmwareWithPlatform, deleteFirmware, selectFirmwareIds, selectFirmwarePlatform, selectPlacedFirmware,
  upsertFirmware
} from './rows.ts'
import type { BulkResult, DeleteFirmware, FirmwareUploadView, FirmwareView } from './schemas.ts'
import { announcedBytes, discardAll, readFirmware } from './upload.ts'
import { toFirmwareView } from './views.ts'

type FirmwareCaller = Pick<Caller, 'id' | 'access'>

const unknownFirmware = (id: number) => `Firmware with ID ${id} not found`

export function createFirmware (app: FastifyInstance, config: Config) {
  const folders = createFirmwareFolders(app, config)
  const { isVisible } = app.platforms

  async function find ({ db, caller }: Context<FirmwareCaller>, id: number): Promise<FirmwareWithPlatform> {
    const [row] = await selectPlacedFirmware(db, isVisible(caller), { ids: [id] })
    if (row === undefined) throw notFound(unknownFirmware(id))
    return row
  }

  async function list (
    { db, caller }: Context<FirmwareCaller>, platformId: number | undefined
  ): Promise<FirmwareView[]> {
    return (await selectPlacedFirmware(db, isVisible(caller), { platform_id: platformId })).map(toFirmwareView)
  }

  /** Deletes the file of a row. @returns the problem, and whether the row stays because of it */
  async function removeFile (row: FirmwareWithPlatform): Promise<{ error: string, keepsRow: boolean } | null> {
    try {
      await folders.remove(row)
      return null
    } catch (err) {
      const reason = err instanceof ApiError ? err.message : reasonOf(err)
      const error = `Failed to delete firmware ${row.id}: ${reason}`
      return { error, keepsRow: !isNotFoundError(err) }
    }
  }

  return {
    list,

    listIds: ({ db, caller }: Context<FirmwareCaller>): Promise<number[]> => selectFirmwareIds(db, isVisible(caller)),

    get: async (context: Context<FirmwareCaller>, id: number): Promise<FirmwareView> =>
      toFirmwareView(await find(context, id)),

    /** Opens a file; the caller closes the handle. @throws ApiError NOT_FOUND, also when the file is missing on disk */
    async open (context: Context<FirmwareCaller>, id: number) {
      const row = await find(context, id)
      const handle = await openStoredFile(app.library, { ...row, fs_path: row.file_path })
      return { fileName: row.file_name, handle }
    },

    /**
     * Stores the files of a form in the platform's folder; replaces files of the same name.
     *
     * @throws ApiError INSUFFICIENT_PERMISSIONS to replace a file without the grant to delete
     */
    async upload (request: FastifyRequest, caller: Caller, platformId: number): Promise<FirmwareUploadView> {
      const { db } = request
      const platform = await selectFirmwarePlatform(db, platformId, isVisible(caller))
      if (platform === null) throw notFound(`Platform with ID ${platformId} not found`)
      const folder = await folders.prepare(platform.fs_slug, announcedBytes(request))
      const { parts, staged } = await readFirmware(request, folders, folder)
      try {
        if (await folders.containsAny(folder, staged.map((file) => file.file_name))) requireGrant(caller, 'firmware', 'delete')
        for (const file of staged) {
          const { file_name: name, file_size_bytes: size, hashes } = file
          await file.publish()
          await upsertFirmware(db, {
            library_id: folder.library_id,
            platform_id: platform.id,
            file_name: name,
            file_path: folder.path,
            file_size_bytes: size,
            ...hashes,
            is_verified: isKnownFirmware(platform.slug, name, size, hashes)
          })
        }
      } finally {
        await discardAll(staged)
      }
      return { uploaded: parts, firmware: await list({ db, caller }, platform.id) }
    },

    /**
     * Deletes firmware from the list, and the named files from disk. Firmware whose file cannot be deleted stays in
     * both.
     */
    async delete ({ db, caller }: Context<FirmwareCaller>, input: DeleteFirmware): Promise<BulkResult> {
      const ids = [...new Set(input.firmware)]
      const withFile = new Set(input.delete_from_fs)
      const rows = new Map((await selectPlacedFirmware(db, isVisible(caller), { ids })).map((row) => [row.id, row]))
      const failed = new Map<number, string>()
      const deletedIds: number[] = []
      for (const id of ids) {
        const row = rows.get(id)
        const failure = row !== undefined && withFile.has(id) ? await removeFile(row) : null
        if (row === undefined) failed.set(id, unknownFirmware(id))
        else if (failure !== null) failed.set(id, failure.error)
        if (row !== undefined && failure?.keepsRow !== true) deletedIds.push(id)
      }
      await deleteFirmware(db, deletedIds)
      return {
        successful_items: ids.length - failed.size, failed_ids: [...failed.keys()], errors: [...failed.values()]
      }
    }
  }
}
