import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { badRequest } from '../../core/errors.ts'
import type { Scope } from '../../core/access/scopes.ts'
import { mediaTypeOf } from '../resources/media-types.ts'
import { findUserFolder } from '../users/user-folder.ts'
import { createChanges } from './uploads/change-assets.ts'
import { type ActingDevice, createDeviceStamps } from './device-sync/device-stamps.ts'
import { Asset, type AssetKind } from './entities.ts'
import { type Files, type StagedFile, missingFile } from './asset-files.ts'
import { requireFile } from './upload-form.ts'
import { cleanFileName } from './asset-names.ts'
import { readPicture } from './check-picture.ts'
import {
  assetNotFound, getDeleted, getOwn, getOwnOrDeleted, getReadable, getReadableAt, listDeleted, listOwn, summarize,
  toSaveViews, toStateViews
} from './read-assets.ts'
import { type AssetRow, selectOwnIds } from './rows.ts'
import type { ContentInput, ListInput, SaveView, ScreenshotView, StateView, VersionInput, VersionView } from './schemas.ts'
import { storeScreenshot } from './uploads/screenshots.ts'
import { createThumbnailStore } from './uploads/thumbnail-store.ts'
import { createUploads, findRom, readMtime } from './uploads/upload-assets.ts'
import { getVersion, listVersions } from './versions.ts'
import { toScreenshotView, toVersionView } from './views.ts'
import { createWrites } from './uploads/write-assets.ts'

const PNG = /^\x89PNG\r\n\x1a\n/ // eslint-disable-line no-control-regex
const PICTURES = new Set(['avif', 'bmp', 'gif', 'jpeg', 'jpg', 'png', 'tif', 'tiff', 'webp'])

function extensionOf (fileName: string): string {
  return fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase()
}

const isPicture = (fileName: string) => PICTURES.has(extensionOf(fileName))

export function createAssets (app: FastifyInstance, config: Config, files: Files) {
  const writes = createWrites(app, config, files)
  const stamps = createDeviceStamps(app)
  const thumbnails = createThumbnailStore(writes)
  const services = { writes, stamps, thumbnails }
  const changes = createChanges(services)
  const namedDevice = (acting: ActingDevice | null) => acting?.is_named === true ? acting.device : null

  /** Opens content with its headers. A browser shows only pictures that are not saves inline. */
  async function openContent (row: AssetRow, content: { disk_path: string, sha1: string }, at: Date) {
    const handle = await files.open(content.disk_path)
    if (handle === null) return null
    const type = row.kind === 'save' || !isPicture(row.file_name) ? null : mediaTypeOf(row.file_name)
    return {
      handle,
      type: type ?? 'application/octet-stream',
      cacheControl: 'private, no-cache',
      disposition: { type: type === null ? 'attachment' as const : 'inline' as const, fileName: row.file_name },
      validators: { etag: `"${content.sha1}"`, lastModified: at.toUTCString() }
    }
  }

  /** Opens the content of an asset. @throws ApiError NOT_FOUND if the file is gone from the disk */
  async function openOf (db: Db, row: AssetRow) {
    const content = await openContent(row, row, new Date(row.updated_at))
    const isMissing = content === null
    if (row.missing_from_fs !== isMissing) {
      await db.em.nativeUpdate(Asset, { id: row.id, disk_path: row.disk_path }, { missing_from_fs: isMissing })
    }
    if (isMissing) throw missingFile(row.file_name)
    return { row, content }
  }

  return {
    ...createUploads(app, config, services),
    changes,

    /** Returns a save that was just uploaded. The limit of its slot may have deleted the save already. */
    async viewUploadedSave (
      context: Context, id: number, reference: number | string | undefined
    ): Promise<SaveView> {
      const { db } = context
      const acting = await stamps.find(context, reference, 'devices.write')
      return (await toSaveViews(db, [await getOwnOrDeleted(context, 'save', id)], namedDevice(acting)))[0] as SaveView
    },

    async viewSave (
      context: Context, id: number, device: { reference: number | string | undefined, scope: Scope }
    ): Promise<SaveView> {
      const { db } = context
      const acting = await stamps.find(context, device.reference, device.scope)
      return (await toSaveViews(db, [await getOwn(context, 'save', id)], namedDevice(acting)))[0] as SaveView
    },

    async viewState (context: Context, id: number): Promise<StateView> {
      const { db } = context
      return (await toStateViews(db, [await getOwn(context, 'state', id)]))[0] as StateView
    },

    async listSaves (context: Context, input: ListInput): Promise<SaveView[]> {
      const { db } = context
      const acting = await stamps.find(context, input.device_id, 'devices.read')
      return await toSaveViews(db, await listOwn(context, 'save', input), namedDevice(acting))
    },

    listStates: async (context: Context, input: ListInput): Promise<StateView[]> =>
      await toStateViews(context.db, await listOwn(context, 'state', input)),

    listDeletedSaves: async (context: Context): Promise<SaveView[]> =>
      await toSaveViews(context.db, await listDeleted(context, 'save'), null),

    listDeletedStates: async (context: Context): Promise<StateView[]> =>
      await toStateViews(context.db, await listDeleted(context, 'state')),

    /** Stages content of a user for an upload; the caller discards it in the end. */
    stage: async (db: Db, userId: number, name: string, content: Readable): Promise<StagedFile> =>
      await files.stage(await findUserFolder(db, userId), name, content),

    listIds: selectOwnIds,
    summarize,

    /** Lists former contents, also of deleted assets. */
    listVersions: async (context: Context, kind: AssetKind, id: number) =>
      await listVersions(context.db, await getOwnOrDeleted(context, kind, id)),

    /** Opens the content of the caller's asset, or of a public one. @throws ApiError NOT_FOUND */
    async open (context: Context, kind: AssetKind, id: number) {
      const { db } = context
      return await openOf(db, await getReadable(context, kind, id))
    },

    /** Opens the content at the path below the assets folder that clients know. @throws ApiError NOT_FOUND */
    openAt: async (context: Context, path: string) =>
      (await openOf(context.db, await getReadableAt(context, path))).content,

    /** Opens the content of an asset that the caller deleted and can restore. @throws ApiError NOT_FOUND */
    openDeleted: async (context: Context, kind: AssetKind, id: number) =>
      (await openOf(context.db, await getDeleted(context, kind, id))).content,

    /** Opens the content like `open`, and stores the transfer for the device. */
    async download (
      context: Context, kind: AssetKind, id: number, input: ContentInput
    ) {
      const { db, caller } = context
      const acting = await stamps.find(context, input.device_id, 'devices.read')
      const { row, content } = await this.open(context, kind, id)
      try {
        const isOwn = row.user_id === caller.id && kind !== 'screenshot'
        if (isOwn && input.optimistic && acting !== null) await stamps.storeDownloadStart(db, acting.device, row)
        await stamps.count(context, acting, input.session_id, row.file_name)
        return content
      } catch (err) {
        await content.handle.close()
        throw err
      }
    },

    /** Stores content as a former one. @throws ApiError BAD_REQUEST, NOT_FOUND */
    async addVersion (
      context: Context, kind: 'save' | 'state', id: number, input: VersionInput, file: StagedFile | null
    ): Promise<VersionView> {
      const acting = await stamps.findSender(context, input.device_id)
      const row = await getOwn(context, kind, id)
      const content = requireFile(file, `${kind}File`)
      const version = await changes.addVersion(context, kind, id, content, readMtime(input.mtime))
      await stamps.count(context, acting, input.session_id, row.file_name)
      return toVersionView(row, version)
    },

    /** Sets whether a device syncs a save. */
    async track (
      context: Context, id: number, reference: number | string | undefined, isTracked: boolean
    ) {
      const { db } = context
      await getOwn(context, 'save', id)
      const device = await stamps.require(context, reference)
      await stamps.track(db, device, id, isTracked)
      return device
    },

    /** Opens a former content of the caller's asset. @throws ApiError NOT_FOUND */
    async openVersion (context: Context, kind: AssetKind, id: number, versionId: number) {
      const { db } = context
      const row = await getOwnOrDeleted(context, kind, id)
      const version = await getVersion(db, row, versionId)
      const content = await openContent(row, version, version.content_updated_at)
      if (content === null) throw missingFile(row.file_name)
      return content
    },

    /** Stores a picture for the gallery of a ROM. @throws ApiError BAD_REQUEST, NOT_FOUND */
    async uploadScreenshot (
      context: Context, romId: number, file: StagedFile
    ): Promise<ScreenshotView> {
      const { db, caller } = context
      const rom = await findRom(context, romId)
      const name = cleanFileName(file.given_name)
      if (!isPicture(name)) throw badRequest(`'${name}' is not a picture; its extension must be one of ${[...PICTURES].join(', ')}`)
      await readPicture({ path: file.path, head: file.head, name })
      const lineage = { user_id: caller.id, rom_id: rom.id, kind: 'screenshot' as const }
      const id = await writes.run(db, [lineage], async (writing) => {
        const screenshot = await storeScreenshot(writes, writing,
          { lineage, rom, file_name: name, is_public: false, is_gallery: true, origin_device_id: null }, file)
        // New content is private, even if the former content was public.
        screenshot.is_public = false
        return screenshot.id
      })
      return toScreenshotView(await getOwn(context, 'screenshot', id))
    },

    /** Stores a PNG picture from a stream for the gallery of a ROM. */
    async addPicture (
      context: Context, romId: number, name: string, picture: Readable
    ): Promise<void> {
      const { db, caller } = context
      const file = await files.stage(await findUserFolder(db, caller.id), name, picture)
      try {
        if (!PNG.test(file.head.toString('latin1', 0, 8))) throw badRequest('The picture is not a PNG; send a PNG')
        await this.uploadScreenshot(context, romId, file)
      } finally {
        await file.discard()
      }
    },

    /**
     * Returns the path of the content of the caller's asset, below the assets folder.
     *
     * @throws ApiError NOT_FOUND if the asset does not exist or belongs to another ROM
     */
    async findContentPath (
      context: Context, kind: AssetKind, id: number, romId: number
    ): Promise<string> {
      const row = await getOwn(context, kind, id)
      if (row.rom_id !== romId) throw assetNotFound(kind, id)
      return row.disk_path
    },

    viewScreenshot: async (context: Context, id: number): Promise<ScreenshotView> =>
      toScreenshotView(await getOwn(context, 'screenshot', id))
  }
}
export type Assets = ReturnType<typeof createAssets>
