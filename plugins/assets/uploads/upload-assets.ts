import type { FastifyInstance } from 'fastify'
import { databaseDate } from '../../../core/database/clock.ts'
import type { Context } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import type { StagedFile } from '../asset-files.ts'
import { assetsConfig } from '../config.ts'
import type { ActingDevices } from '../device-sync/acting-device.ts'
import { stampUpload } from '../device-sync/device-stamps.ts'
import type { Asset } from '../entities.ts'
import type { UploadInput } from '../schemas.ts'
import { findPeers } from './find-same-asset.ts'
import { type Upload, readUpload } from './read-upload.ts'
import { createUploadStore } from './store-upload.ts'
import { type ThumbnailStore, readThumbnail } from './thumbnail-store.ts'
import type { Writes } from './write-assets.ts'
import type { WriteContext } from './write-transaction.ts'

/** The services that write saves and states. */
export interface AssetWriting { writes: Writes, devices: ActingDevices, thumbnails: ThumbnailStore }

/** Creates uploads of saves and states. */
export function createUploads (app: FastifyInstance, config: Config, services: AssetWriting) {
  const { writes, devices, thumbnails } = services
  const { store, cleanUp } = createUploadStore(services)

  async function autoClean (writing: WriteContext, upload: Upload, asset: Asset): Promise<void> {
    const { input: { autocleanup: isWanted, autocleanup_limit: limit = 10 }, slot } = upload
    if (isWanted !== true || slot === null) return
    const limitInSlot = Math.min(Math.max(limit, 1), assetsConfig.of(config).max_autocleanup_limit)
    const peers = await findPeers(writing, upload)
    await cleanUp(writing, peers.slice(limitInSlot).filter((peer) => peer !== asset))
  }

  return {
    /**
     * Stores an upload. Clients rely on the order of these steps.
     *
     * @returns the id of the asset that stores the upload
     */
    async upload (
      context: Context, kind: 'save' | 'state', input: UploadInput,
      { main: file, screenshot }: { main: StagedFile, screenshot: StagedFile | null }
    ): Promise<number> {
      const { db, caller } = context
      const acting = await devices.findSender(context, input.device_id)
      const upload = await readUpload(context, kind, input, { file, acting })
      const picture = await readThumbnail(screenshot)
      const { lineage, rom } = upload
      const asset = await writes.run(db, [lineage], async (writing) => {
        await devices.lock(writing.tx, acting)
        const { asset, isCurrent } = await store(writing, upload)
        if (acting !== null && isCurrent) await stampUpload(writing.tx, acting.device, asset, input.content_hash)
        await autoClean(writing, upload, asset)
        if (picture !== null) await thumbnails.store(writing, asset, rom, picture)
        return asset
      })
      await app.roms.storeLastPlayed(db, caller.id, rom.id, databaseDate())
      await devices.count(context, acting, input.session_id, asset.file_name)
      return asset.id
    }
  }
}
