import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
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
import { putScreenshot } from './uploads/screenshots.ts'
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
  const named = (acting: ActingDevice | null) => acting?.is_named === true ? acting.device : null

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
      db: Db, caller: Caller, id: number, reference: number | string | undefined
    ): Promise<SaveView> {
      const acting = await stamps.find(db, caller, reference, 'devices.write')
      return (await toSaveViews(db, [await getOwnOrDeleted(db, caller, 'save', id)], named(acting)))[0] as SaveView
    },

    async viewSave (
      db: Db, caller: Caller, id: number, device: { reference: number | string | undefined, scope: Scope }
    ): Promise<SaveView> {
      const acting = await stamps.find(db, caller, device.reference, device.scope)
      return (await toSaveViews(db, [await getOwn(db, caller, 'save', id)], named(acting)))[0] as SaveView
    },

    async viewState (db: Db, caller: Caller, id: number): Promise<StateView> {
      return (await toStateViews(db, [await getOwn(db, caller, 'state', id)]))[0] as StateView
    },

    async listSaves (db: Db, caller: Caller, input: ListInput): Promise<SaveView[]> {
      const acting = await stamps.find(db, caller, input.device_id, 'devices.read')
      return await toSaveViews(db, await listOwn(db, caller, 'save', input), named(acting))
    },

    listStates: async (db: Db, caller: Caller, input: ListInput): Promise<StateView[]> =>
      await toStateViews(db, await listOwn(db, caller, 'state', input)),

    listDeletedSaves: async (db: Db, caller: Caller): Promise<SaveView[]> =>
      await toSaveViews(db, await listDeleted(db, caller, 'save'), null),

    listDeletedStates: async (db: Db, caller: Caller): Promise<StateView[]> =>
      await toStateViews(db, await listDeleted(db, caller, 'state')),

    /** Stages content of a user for an upload; the caller discards it in the end. */
    stage: async (db: Db, userId: number, name: string, content: Readable): Promise<StagedFile> =>
      await files.stage(await findUserFolder(db, userId), name, content),

    listIds: selectOwnIds,
    summarize,

    /** Lists former contents, also of deleted assets. */
    listVersions: async (db: Db, caller: Caller, kind: AssetKind, id: number) =>
      await listVersions(db, await getOwnOrDeleted(db, caller, kind, id)),

    /** Opens the content of the caller's asset, or of a public one. @throws ApiError NOT_FOUND */
    async open (db: Db, caller: Caller, kind: AssetKind, id: number) {
      return await openOf(db, await getReadable(db, caller, kind, id))
    },

    /** Opens the content at the path below the assets folder that clients know. @throws ApiError NOT_FOUND */
    openAt: async (db: Db, caller: Caller, path: string) =>
      (await openOf(db, await getReadableAt(db, caller, path))).content,

    /** Opens the content of an asset that the caller deleted and can restore. @throws ApiError NOT_FOUND */
    openDeleted: async (db: Db, caller: Caller, kind: AssetKind, id: number) =>
      (await openOf(db, await getDeleted(db, caller, kind, id))).content,

    /** Opens the content like `open`, and stores the transfer for the device. */
    async download (
      db: Db, caller: Caller, kind: AssetKind, id: number, input: ContentInput
    ) {
      const acting = await stamps.find(db, caller, input.device_id, 'devices.read')
      const { row, content } = await this.open(db, caller, kind, id)
      try {
        const isOwn = row.user_id === caller.id && kind !== 'screenshot'
        if (isOwn && input.optimistic && acting !== null) await stamps.served(db, acting.device, row)
        await stamps.count(db, caller, acting, input.session_id, row.file_name)
        return content
      } catch (err) {
        await content.handle.close()
        throw err
      }
    },

    /** Stores content as a former one. @throws ApiError BAD_REQUEST, NOT_FOUND */
    async keepVersion (
      db: Db, caller: Caller, kind: 'save' | 'state', id: number, input: VersionInput, file: StagedFile | null
    ): Promise<VersionView> {
      const acting = await stamps.findSender(db, caller, input.device_id)
      const row = await getOwn(db, caller, kind, id)
      const content = requireFile(file, `${kind}File`)
      const version = await changes.addVersion(db, caller, kind, id, content, readMtime(input.mtime))
      await stamps.count(db, caller, acting, input.session_id, row.file_name)
      return toVersionView(row, version)
    },

    /** Sets whether a device syncs a save. */
    async track (
      db: Db, caller: Caller, id: number, reference: number | string | undefined, isTracked: boolean
    ) {
      await getOwn(db, caller, 'save', id)
      const device = await stamps.require(db, caller, reference)
      await stamps.track(db, device, id, isTracked)
      return device
    },

    /** Opens a former content of the caller's asset. @throws ApiError NOT_FOUND */
    async openVersion (db: Db, caller: Caller, kind: AssetKind, id: number, versionId: number) {
      const row = await getOwnOrDeleted(db, caller, kind, id)
      const version = await getVersion(db, row, versionId)
      const content = await openContent(row, version, version.content_updated_at)
      if (content === null) throw missingFile(row.file_name)
      return content
    },

    /** Stores a picture for the gallery of a ROM. @throws ApiError BAD_REQUEST, NOT_FOUND */
    async uploadScreenshot (
      db: Db, caller: Caller, romId: number, file: StagedFile
    ): Promise<ScreenshotView> {
      const rom = await findRom(db, caller, romId)
      const name = cleanFileName(file.given_name)
      if (!isPicture(name)) throw badRequest(`'${name}' is no picture; its extension must be one of ${[...PICTURES].join(', ')}`)
      await readPicture({ path: file.path, head: file.head, name })
      const lineage = { user_id: caller.id, rom_id: rom.id, kind: 'screenshot' as const }
      const id = await writes.run(db, [lineage], async (writing) => {
        const screenshot = await putScreenshot(writes, writing,
          { lineage, rom, file_name: name, is_public: false, is_gallery: true, origin_device_id: null }, file)
        // New content is private, even if the former content was public.
        screenshot.is_public = false
        return screenshot.id
      })
      return toScreenshotView(await getOwn(db, caller, 'screenshot', id))
    },

    /** Stores a PNG picture from a stream for the gallery of a ROM. */
    async addPicture (
      db: Db, caller: Caller, romId: number, name: string, picture: Readable
    ): Promise<void> {
      const file = await files.stage(await findUserFolder(db, caller.id), name, picture)
      try {
        if (!PNG.test(file.head.toString('latin1', 0, 8))) throw badRequest('The picture is no PNG; send one')
        await this.uploadScreenshot(db, caller, romId, file)
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
      db: Db, caller: Caller, kind: AssetKind, id: number, romId: number
    ): Promise<string> {
      const row = await getOwn(db, caller, kind, id)
      if (row.rom_id !== romId) throw assetNotFound(kind, id)
      return row.disk_path
    },

    viewScreenshot: async (db: Db, caller: Caller, id: number): Promise<ScreenshotView> =>
      toScreenshotView(await getOwn(db, caller, 'screenshot', id))
  }
}
export type Assets = ReturnType<typeof createAssets>
