import { type Static, Type } from '@sinclair/typebox'
import { Bytes, DateTime, ID_MAX, Id, NameText, Nullable, StoredText, StringEnum, bytesOf, idOf } from '../../core/typebox.ts'
import { DeviceReference } from '../devices/schemas.ts'

const SHA1 = { pattern: '^[0-9A-Fa-f]{40}$' }

const BaseAsset = {
  id: Type.Integer(),
  rom_id: Nullable(Type.Integer({ description: 'Null while the ROM is not in the library' })),
  user_id: Type.Integer(),
  file_name: Type.String(),
  file_name_no_tags: Type.String(),
  file_name_no_ext: Type.String(),
  file_extension: Type.String(),
  file_path: Type.String({ description: 'The folder, below the assets folder' }),
  full_path: Type.String(),
  file_size_bytes: Type.Integer(),
  download_path: Type.String(),
  missing_from_fs: Type.Boolean(),
  created_at: DateTime,
  updated_at: DateTime
}
const ContentDevice = Nullable(Type.String({ description: 'Id of the device that sent the content; null if it is unknown' }))
const Content = {
  sha1: Type.String(),
  client_mtime: Nullable(DateTime),
  content_device_id: ContentDevice,
  conflict_of: Nullable(Type.Integer())
}

export const ScreenshotSchema = Type.Object({ ...BaseAsset, is_gallery: Type.Boolean(), is_public: Type.Boolean() }, { title: 'Screenshot' })
export type ScreenshotView = Static<typeof ScreenshotSchema>

const DeviceSyncSchema = Type.Object({
  device_id: Type.String(),
  device_name: Nullable(Type.String()),
  last_synced_at: DateTime,
  is_untracked: Type.Boolean(),
  is_current: Type.Boolean()
}, { title: 'DeviceSync' })
export type DeviceSyncView = Static<typeof DeviceSyncSchema>

export const SaveSchema = Type.Object({
  ...BaseAsset,
  ...Content,
  emulator: Nullable(Type.String()),
  slot: Nullable(Type.String()),
  content_hash: Nullable(Type.String()),
  origin_device_id: Nullable(Type.String()),
  is_public: Type.Boolean(),
  screenshot: Nullable(ScreenshotSchema),
  device_syncs: Type.Array(DeviceSyncSchema, { description: 'Filled only if device_id is given, with that device first' })
}, { title: 'Save' })
export type SaveView = Static<typeof SaveSchema>

export const StateSchema = Type.Object({
  ...BaseAsset,
  ...Content,
  emulator: Nullable(Type.String()),
  is_public: Type.Boolean(),
  screenshot: Nullable(ScreenshotSchema)
}, { title: 'State' })
export type StateView = Static<typeof StateSchema>

const Owner = { username: Type.String(), user_avatar_path: Type.String(), user_updated_at: Nullable(DateTime) }
export type OwnerView = Static<ReturnType<typeof Type.Object<typeof Owner>>>
export const UserSaveSchema = Type.Object({ ...SaveSchema.properties, ...Owner }, { title: 'UserSave' })
export const UserStateSchema = Type.Object({ ...StateSchema.properties, ...Owner }, { title: 'UserState' })
export const UserScreenshotSchema = Type.Object({ ...ScreenshotSchema.properties, ...Owner }, { title: 'UserScreenshot' })

const SlotSummarySchema = Type.Object({ slot: Nullable(Type.String()), count: Type.Integer(), latest: SaveSchema }, { title: 'SlotSummary' })
export const SaveSummarySchema = Type.Object({ total_count: Type.Integer(), slots: Type.Array(SlotSummarySchema) }, { title: 'SaveSummary' })
export type SaveSummary = Static<typeof SaveSummarySchema>

export const VersionSchema = Type.Object({
  id: Type.Integer(),
  file_name: Type.String(),
  file_size_bytes: Type.Integer(),
  sha1: Type.String(),
  content_hash: Nullable(Type.String()),
  client_mtime: Nullable(DateTime),
  content_updated_at: DateTime,
  content_device_id: ContentDevice,
  created_at: DateTime,
  download_path: Type.String()
}, { title: 'Version' })

const Shown = bytesOf('application/octet-stream', 'image/*')
/** The file of an asset. Browsers show a picture, unless its kind is save. */
export const CONTENT = { save: Bytes, state: Shown, screenshot: Shown } as const

/** The conflicts of an upload with other content on the server, and those of any change. */
export const UploadConflictSchema = Type.Object({
  detail: Type.Union([
    Type.String(),
    Type.Object({
      error: Type.Literal('conflict'),
      save_id: Type.Integer(),
      current_save_time: DateTime,
      device_sync_time: Nullable(DateTime),
      message: Type.String()
    }, { title: 'OutdatedUpload' }),
    Type.Object({
      error: Type.Literal('changed'),
      sha1: Nullable(Type.String({ description: 'SHA-1 of the current content; null if there is none' })),
      message: Type.String()
    }, { title: 'ChangedContent' })
  ])
}, { title: 'UploadConflict' })

export const ResolveBody = Type.Object({
  keep: StringEnum(['both', 'original', 'copy'], {
    description: 'both: the copy becomes a save of its own. original: the copy is deleted. copy: its content becomes the current one of the ' +
      'original, whose content stays as a version, and the copy is deleted'
  })
}, { title: 'ResolveConflict' })
export type ResolveInput = Static<typeof ResolveBody>
export type VersionView = Static<typeof VersionSchema>

const Device = Type.Optional(StoredText({ maxLength: 255, description: 'Either id of one of your devices' }))
const Session = Type.Optional(StoredText({ maxLength: 64, description: 'Either id of a sync session that counts this transfer' }))
const Emulator = Type.Optional(StoredText({ maxLength: 50, description: 'Name of the emulator, which becomes a folder' }))
const ContentHash = Type.Optional(StoredText({ maxLength: 64, description: "The device's MD5, stored as its base" }))
const Mtime = Type.Optional(Type.String({ format: 'date-time', description: 'Time of the last change on the device, as the device reports it' }))

/** Properties of an upload, as query parameters or as form fields. */
export const StateUploadQuery = Type.Object({
  rom_id: idOf('a ROM'),
  emulator: Emulator,
  device_id: Device,
  session_id: Session,
  content_hash: ContentHash,
  expected_sha1: Type.Optional(Type.String({
    pattern: '^([0-9A-Fa-f]{40}|none)$',
    description: 'SHA-1 of the content that this upload replaces, or `none`; 409 if the server has other content now'
  })),
  conflict_of: Type.Optional(Type.Integer({
    minimum: 1, maximum: ID_MAX, description: 'Id of the file with which this upload conflicts; the upload is stored beside that file as a conflict copy'
  })),
  mtime: Mtime
})
export const SaveUploadQuery = Type.Object({
  ...StateUploadQuery.properties,
  slot: Type.Optional(NameText({
    maxLength: 255, description: 'Uploads of a slot are stored side by side, with their date in the name'
  })),
  overwrite: Type.Boolean({ default: false, description: 'Skips the checks for conflicts and for the same content' }),
  autocleanup: Type.Boolean({ default: false, description: 'Deletes all but the newest saves of the slot' }),
  autocleanup_limit: Type.Integer({ default: 10, description: 'Number of newest saves that stay: 1 to MAX_AUTOCLEANUP_LIMIT' })
})
export type UploadInput = Static<typeof StateUploadQuery> & Partial<Static<typeof SaveUploadQuery>>

const Picture = Type.Optional(Bytes)
export const SaveForm = Type.Object({ saveFile: Bytes, screenshotFile: Picture }, { title: 'SaveForm' })
export const SaveChangeForm = Type.Partial(SaveForm, { title: 'SaveChangeForm' })
export const SaveVersionForm = Type.Pick(SaveForm, ['saveFile'], { title: 'SaveVersionForm' })
export const StateForm = Type.Object({ stateFile: Bytes, screenshotFile: Picture }, { title: 'StateForm' })
export const StateChangeForm = Type.Partial(StateForm, { title: 'StateChangeForm' })
export const StateVersionForm = Type.Pick(StateForm, ['stateFile'], { title: 'StateVersionForm' })
export const ScreenshotForm = Type.Object({ screenshotFile: Bytes }, { title: 'ScreenshotForm' })

export const ReplaceQuery = Type.Object({
  device_id: Device, session_id: Session, content_hash: ContentHash, mtime: Mtime
})
export type ReplaceInput = Static<typeof ReplaceQuery>
export const ScreenshotUploadQuery = Type.Object({ rom_id: idOf('a ROM') })
export const VersionUploadQuery = Type.Object({ device_id: Device, session_id: Session, mtime: Mtime })
export type VersionInput = Static<typeof VersionUploadQuery>

export const ListStatesQuery = Type.Object({
  rom_id: Type.Optional(idOf('a ROM')),
  platform_id: Type.Optional(idOf('a platform')),
  orphaned: Type.Boolean({ default: false, description: 'Only saves or states whose ROM is not in the library any more' })
})
export const ListSavesQuery = Type.Object({
  ...ListStatesQuery.properties,
  slot: Type.Optional(StoredText({ maxLength: 255, description: 'Exact slot name' })),
  device_id: Device
})
export type ListInput = Static<typeof ListStatesQuery> & Partial<Static<typeof ListSavesQuery>>
export const SummaryQuery = Type.Object({ rom_id: idOf('a ROM') })
export const SaveQuery = Type.Object({ device_id: Device })
export const ContentQuery = Type.Object({
  device_id: Device,
  session_id: Session,
  optimistic: Type.Boolean({ default: true, description: 'Marks the save as synced with the device at once' }),
  timestamp: Type.Optional(Type.String({ description: 'Ignored' }))
})
export type ContentInput = Static<typeof ContentQuery>

const Hash = StoredText({ maxLength: 64 })
export const DeviceBody = Type.Object({
  device_id: Type.Optional(DeviceReference)
}, { title: 'DeviceBody', description: 'The device; defaults to the device of the token' })
export const DownloadedBody = Type.Object({
  ...DeviceBody.properties,
  sha1: Type.Optional(Nullable(Type.String(SHA1))),
  content_hash: Type.Optional(Nullable(Hash))
}, { title: 'DownloadedBody', description: 'The device, and optionally the content that it now holds' })
export type DownloadedInput = Static<typeof DownloadedBody>
export const VisibilityBody = Type.Object({ is_public: Type.Boolean() }, { title: 'VisibilityBody' })
const Ids = Type.Array(Id, { minItems: 0, maxItems: 10_000 })
export const DeleteSavesBody = Type.Object({ saves: Ids }, { title: 'DeleteSavesBody' })
export const DeleteStatesBody = Type.Object({ states: Ids }, { title: 'DeleteStatesBody' })
export const VersionParams = Type.Object({ id: idOf('a save or state'), version_id: idOf('a version') })
