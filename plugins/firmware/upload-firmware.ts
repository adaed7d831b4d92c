import type { FastifyRequest } from 'fastify'
import { requireGrant } from '../../core/access/auth.ts'
import { type Context, contextOf } from '../../core/access/context.ts'
import { notFound } from '../../core/errors.ts'
import { confirmCaller } from '../auth/confirm-caller.ts'
import type { FirmwareFolder, FirmwareFolders, StagedFirmware } from './folder.ts'
import { isKnownFirmware } from './known-firmware.ts'
import { listFirmware } from './read-firmware.ts'
import { selectFirmwarePlatform, upsertFirmware } from './rows.ts'
import type { FirmwareUploadView } from './schemas.ts'
import type { FirmwareServices } from './services.ts'
import { announcedBytes, discardAll, readFirmware } from './upload.ts'

/** The platform and the folder that staged files are published to. */
interface Target { platform: { id: number, slug: string }, folder: FirmwareFolder }

/** @throws ApiError INSUFFICIENT_PERMISSIONS to replace a file without the grant to delete */
async function publishAll (
  folders: FirmwareFolders, { db, caller }: Context, { platform, folder }: Target, staged: readonly StagedFirmware[]
): Promise<void> {
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
}

/**
 * Stores the files of a form in the platform's folder; replaces files of the same name.
 *
 * @throws ApiError INSUFFICIENT_PERMISSIONS to replace a file without the grant to delete
 */
export async function uploadFirmware (
  { folders, isVisible, runAlone }: FirmwareServices, request: FastifyRequest, platformId: number
): Promise<FirmwareUploadView> {
  const context = contextOf(request)
  const { db, caller } = context
  const platform = await selectFirmwarePlatform(db, platformId, isVisible(caller))
  if (platform === null) throw notFound(`Platform with ID ${platformId} not found`)
  const folder = await folders.prepare(platform.fs_slug, announcedBytes(request))
  const { parts, staged } = await readFirmware(request, folders, folder)
  try {
    await confirmCaller(request)
    await runAlone(() => publishAll(folders, context, { platform, folder }, staged))
  } finally {
    await discardAll(staged)
  }
  return { uploaded: parts, firmware: await listFirmware({ isVisible }, context, platform.id) }
}
