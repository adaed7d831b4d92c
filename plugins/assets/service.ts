import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { findUserFolder } from '../users/user-folder.ts'
import type { Files, StagedFile } from './asset-files.ts'
import { createActingDevices } from './device-sync/acting-device.ts'
import { trackAsset, untrackAsset } from './device-sync/rows.ts'
import type { AssetKind, AssetRef } from './entities.ts'
import { createContents } from './open-content.ts'
import { assetNotFound, getOwn, getOwnOrDeleted, summarize } from './read-assets.ts'
import { selectOwnIds } from './rows.ts'
import type { VersionInput, VersionView } from './schemas.ts'
import { requireFile } from './upload-form.ts'
import { createAssetImports } from './uploads/import-asset.ts'
import { createChanges } from './uploads/change-assets.ts'
import { createConflicts } from './uploads/resolve-conflict.ts'
import { createFiledAssets } from './uploads/filed-assets.ts'
import { readMtime } from './uploads/read-upload.ts'
import { createThumbnailStore } from './uploads/thumbnail-store.ts'
import { createUploads } from './uploads/upload-assets.ts'
import { createScreenshotUploads } from './uploads/upload-screenshots.ts'
import { createWrites } from './uploads/write-assets.ts'
import { listVersions } from './versions.ts'
import {
  createSaveViews, listDeletedSaves, listDeletedStates, listStates, viewScreenshot, viewState
} from './view-assets.ts'
import { toVersionView } from './views.ts'

export function createAssets (app: FastifyInstance, config: Config, files: Files) {
  const writes = createWrites(app, config, files)
  const devices = createActingDevices(app)
  const services = { writes, devices, thumbnails: createThumbnailStore(writes) }
  const changes = createChanges(services)
  const stage = async (db: Db, userId: number, name: string, content: Readable): Promise<StagedFile> =>
    await files.stage(await findUserFolder(db, userId), name, content)

  return {
    ...createUploads(app, config, services),
    ...createScreenshotUploads(files, writes),
    ...createContents(files, devices),
    ...createSaveViews(devices),
    changes,
    ...createConflicts(services, { open: files.open, stage }),
    imports: createAssetImports(writes),
    filed: createFiledAssets(services),
    viewState,
    viewScreenshot,
    listStates,
    listDeletedSaves,
    listDeletedStates,
    listIds: selectOwnIds,
    summarize,

    /** Stages content of a user for an upload; the caller discards it in the end. */
    stage,

    /** Lists former contents, also of deleted assets. */
    listVersions: async (context: Context, ref: AssetRef) =>
      await listVersions(context.db, await getOwnOrDeleted(context, ref)),

    /** Stores content as a former one. @throws ApiError BAD_REQUEST, NOT_FOUND */
    async addVersion (
      context: Context, ref: AssetRef<'save' | 'state'>, input: VersionInput, file: StagedFile | null
    ): Promise<VersionView> {
      const acting = await devices.findSender(context, input.device_id)
      const row = await getOwn(context, ref)
      const content = requireFile(file, `${ref.kind}File`)
      const from = { client_mtime: readMtime(input.mtime), device_id: acting?.device.id ?? null }
      const version = await changes.addVersion(context, ref, content, from)
      await devices.count(context, acting, input.session_id, row.file_name)
      return toVersionView(row, version)
    },

    /** Sets whether a device syncs a save. Untracking is also stored for a save that the device never synced. */
    async track (context: Context, id: number, reference: number | string | undefined, isTracked: boolean) {
      await getOwn(context, { kind: 'save', id })
      const device = await devices.require(context, reference)
      await (isTracked ? trackAsset : untrackAsset)(context.db, device.id, id)
      return device
    },

    /**
     * Returns the path of the content of the caller's asset, below the assets folder.
     *
     * @throws ApiError NOT_FOUND if the asset does not exist or belongs to another ROM
     */
    async findContentPath (context: Context, kind: AssetKind, id: number, romId: number): Promise<string> {
      const row = await getOwn(context, { kind, id })
      if (row.rom_id !== romId) throw assetNotFound({ kind, id })
      return row.disk_path
    }
  }
}
export type Assets = ReturnType<typeof createAssets>
