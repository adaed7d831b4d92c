import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../../core/errors.ts'
import type { StagedFile } from '../../assets/asset-files.ts'
import { readResolution } from '../../sync/resolution.ts'
import { type DeviceContext, requireSender } from '../acting-device.ts'
import { type CurrentAsset, type FileRow, storeContent } from '../rows.ts'
import { type AssetPlace, type GamePath, storedName } from './asset-place.ts'
import type { OwnFiles } from './own-files.ts'

/** A file of a game that a device sends, with the row of its path. */
export interface GameUpload extends GamePath { row: FileRow, file: StagedFile }

/** Another writer changed the content after the decision about it. */
export class ContentMoved extends ApiError {
  constructor () { super('CONFLICT', 'The file changed on the server while it was received; send it again') }
}

/** Creates the writes of assets that uploads lead to. */
export function createAssetWrites (app: FastifyInstance, ownFiles: OwnFiles) {
  const { changes, filed } = app.assets

  /** Stores which asset has the content of a path. */
  async function storeAsset (
    { db: tx }: DeviceContext, { id, disk_path: diskPath }: FileRow, asset: { id: number, rom_id: number | null },
    content: Pick<StagedFile, 'sha1' | 'file_size_bytes'> & { md5: string | null }
  ): Promise<void> {
    const { sha1, md5, file_size_bytes: size } = content
    await storeContent(tx, id,
      { sha1, md5, file_size_bytes: size, asset_id: asset.id, rom_id: asset.rom_id, disk_path: null })
    if (diskPath !== null) ownFiles.removeLater(tx, [diskPath])
  }

  async function addAsset (context: DeviceContext, upload: GameUpload, place: AssetPlace): Promise<void> {
    const { row, key, game: { kind }, file } = upload
    const id = await filed.add(context, { kind, file_name: storedName(key), ...place }, file)
    await storeAsset(context, row, { id, rom_id: place.rom_id }, file)
  }

  async function replaceAsset (context: DeviceContext, { row, file }: GameUpload, asset: CurrentAsset): Promise<void> {
    const ref = { kind: asset.kind, id: asset.id }
    if (!await filed.replace(context, ref, asset.sha1, file)) throw new ContentMoved()
    await storeAsset(context, row, asset, file)
  }

  /** Stores content that was made from other content than the server's, as the owner chose for the device. */
  async function storeConflict (context: DeviceContext, upload: GameUpload, asset: CurrentAsset): Promise<void> {
    const { kind, id, rom_id: romId } = asset
    const { file } = upload
    const resolution = readResolution(context.device)
    if (kind === 'screenshot' || resolution === 'device_wins') {
      requireSender(context)
      await replaceAsset(context, upload, asset)
    } else if (resolution === 'server_wins' || romId === null) {
      await changes.addVersion(context, { kind, id }, file, { client_mtime: null, device_id: context.device.id })
    } else {
      await app.assets.upload(context, kind, { rom_id: romId, conflict_of: id }, { main: file, screenshot: null })
    }
  }

  return { storeAsset, addAsset, replaceAsset, storeConflict }
}
