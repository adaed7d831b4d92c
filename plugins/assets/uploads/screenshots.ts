import type { Asset } from '../entities.ts'
import type { StagedFile } from '../asset-files.ts'
import { findScreenshot } from '../read-assets.ts'
import { type NewAsset, type Writes, folderOf } from './write-assets.ts'
import type { WriteContext, WriteKey } from './write-transaction.ts'

type NewScreenshot = Pick<NewAsset, 'rom' | 'file_name' | 'is_public' | 'is_gallery' | 'origin_device_id'> &
  { lineage: WriteKey & { rom_id: number } }

/**
 * Stores a picture of a ROM under its name. It replaces a picture of the same name and use, which keeps its visibility;
 * otherwise it is new.
 */
export async function storeScreenshot (
  writes: Writes, writing: WriteContext, given: NewScreenshot, file: StagedFile
): Promise<Asset> {
  const { lineage, rom, file_name: name, is_gallery: isGallery } = given
  const existing = await findScreenshot(writing.tx, lineage, { file_name: name, is_gallery: isGallery })
  if (existing !== null) {
    await writes.replace(writing, existing,
      { file, folder: folderOf(lineage, rom, null), client_mtime: null, device_id: given.origin_device_id })
    return existing
  }
  return await writes.create(writing,
    { ...given, emulator: null, slot: null, conflict_of: null, client_mtime: null }, file, null)
}
