import type { FileHandle } from 'node:fs/promises'
import type { Context } from '../../core/access/context.ts'
import { notFound } from '../../core/errors.ts'
import { openStoredFile } from '../roms/stored-files.ts'
import { type FirmwareWithPlatform, selectPlacedFirmware } from './rows.ts'
import type { FirmwareView } from './schemas.ts'
import type { FirmwareCaller, FirmwareServices } from './services.ts'
import { toFirmwareView } from './views.ts'

type Visibility = Pick<FirmwareServices, 'isVisible'>

export const unknownFirmware = (id: number) => `Firmware with ID ${id} not found`

/** @throws ApiError NOT_FOUND unless the caller sees the firmware */
export async function findFirmware (
  { isVisible }: Visibility, { db, caller }: Context<FirmwareCaller>, id: number
): Promise<FirmwareWithPlatform> {
  const [row] = await selectPlacedFirmware(db, isVisible(caller), { ids: [id] })
  if (row === undefined) throw notFound(unknownFirmware(id))
  return row
}

/** Lists the firmware of a platform, or of all. */
export async function listFirmware (
  { isVisible }: Visibility, { db, caller }: Context<FirmwareCaller>,
  platformId: number | undefined
): Promise<FirmwareView[]> {
  return (await selectPlacedFirmware(db, isVisible(caller), { platform_id: platformId })).map(toFirmwareView)
}

/** Opens a file; the caller closes the handle. @throws ApiError NOT_FOUND, also when the file is missing on disk */
export async function openFirmware (
  { library, isVisible }: Pick<FirmwareServices, 'library' | 'isVisible'>, context: Context<FirmwareCaller>, id: number
): Promise<{ fileName: string, handle: FileHandle }> {
  const row = await findFirmware({ isVisible }, context, id)
  const handle = await openStoredFile(library, { ...row, fs_path: row.file_path })
  return { fileName: row.file_name, handle }
}
