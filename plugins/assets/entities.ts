import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { countChanges } from '../library/entities.ts'
import { Device } from '../devices/entities.ts'
import { Rom } from '../roms/entities.ts'
import { User } from '../users/entities.ts'

export const ASSET_KINDS = ['save', 'state', 'screenshot'] as const
export type AssetKind = typeof ASSET_KINDS[number]

/** The asset that a request names. An id of another kind is not found. */
export interface AssetRef<Kind extends AssetKind = AssetKind> { kind: Kind, id: number }
/**
 * The cause of a deletion: the owner, or the limit on the history of a slot. Devices delete only assets that the owner
 * deleted.
 */
const DELETED_BY = ['owner', 'cleanup'] as const

/** Columns of content on disk. A file is never overwritten: new content is a new file. */
const contentColumns = {
  file_size_bytes: columns.bytes(),
  /** MD5 of the bytes; for a zip, MD5 of the names and MD5s of its entries. */
  content_hash: columns.text().nullable(),
  sha1: columns.text(),
  /** Path below the assets folder. */
  disk_path: columns.text(),
  /** Time of the last change on the device, as the device reports it. */
  client_mtime: columns.time().nullable(),
  /** Device that sent the content. */
  content_device: () => p.manyToOne(Device).deleteRule('set null').joinColumn('content_device_id').nullable().index()
}

/** A save, state or screenshot of a ROM and a user, with its newest content. */
export const Asset = defineEntity({
  name: 'Asset',
  tableName: 'assets',
  triggers: [countChanges('assets', 'assets')],
  indexes: [
    { properties: ['user', 'kind', 'rom'] },
    { properties: ['rom'] },
    { properties: ['deleted_at'] }
  ],
  properties: {
    id: columns.id(),
    kind: p.enum(ASSET_KINDS),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id'),
    /** Null while the ROM is gone from the library. The two names below attach the asset when the ROM returns. */
    rom: () => p.manyToOne(Rom).deleteRule('set null').joinColumn('rom_id').nullable(),
    platform_fs_slug: columns.text(),
    rom_fs_name: columns.text(),
    file_name: columns.text(),
    emulator: columns.text().nullable(),
    slot: columns.text().nullable(),
    ...contentColumns,
    is_public: columns.flag(),
    /** True for a screenshot of the gallery, false for the picture of a save or state. */
    is_gallery: columns.flag(),
    missing_from_fs: columns.flag(),
    /** Device that sent the first content. */
    origin_device: () => p.manyToOne(Device).deleteRule('set null').joinColumn('origin_device_id').nullable().index(),
    /** For a conflict copy: id of the asset whose other side this copy stores. */
    conflict_of: p.integer().nullable(),
    deleted_at: columns.time().nullable(),
    deleted_by: p.enum(DELETED_BY).nullable(),
    created_at: columns.createdAt(),
    /** Time of the last change of the content. Nothing else changes this time, because devices compare by it. */
    updated_at: columns.createdAt()
  }
})
export type Asset = InferEntity<typeof Asset>

/** Former content of an asset. */
export const AssetVersion = defineEntity({
  name: 'AssetVersion',
  tableName: 'asset_versions',
  properties: {
    id: columns.id(),
    asset: () => p.manyToOne(Asset).deleteRule('cascade').joinColumn('asset_id').index(),
    file_name: columns.text(),
    ...contentColumns,
    /** The asset's `updated_at` while this was its content. */
    content_updated_at: columns.time(),
    /** Time when other content replaced this content. */
    created_at: columns.createdAt()
  }
})
export type AssetVersion = InferEntity<typeof AssetVersion>

/** The last transfer of a save between a device and the server. */
export const DeviceSync = defineEntity({
  name: 'DeviceSync',
  tableName: 'device_syncs',
  primaryKeys: ['device', 'asset'],
  properties: {
    device: () => p.manyToOne(Device).primary().deleteRule('cascade').joinColumn('device_id'),
    asset: () => p.manyToOne(Asset).primary().deleteRule('cascade').joinColumn('asset_id').index(),
    last_synced_at: columns.time(),
    is_untracked: columns.flag()
  }
})
export type DeviceSync = InferEntity<typeof DeviceSync>

/** The content that a device and the server last agreed on, for one file or slot of a ROM. */
export const SyncBase = defineEntity({
  name: 'SyncBase',
  tableName: 'sync_bases',
  primaryKeys: ['device', 'rom', 'kind', 'key'],
  properties: {
    device: () => p.manyToOne(Device).primary().deleteRule('cascade').joinColumn('device_id'),
    /** No foreign key, because a ROM may be gone from the library and return. */
    rom: () => p.manyToOne(Rom).primary().createForeignKeyConstraint(false).joinColumn('rom_id').index(),
    kind: p.enum(ASSET_KINDS).primary(),
    /** `slot:` and the slot, or `file:` and the file name without its date tag. */
    key: columns.text().primary(),
    sha1: columns.text(),
    content_hash: columns.text().nullable(),
    /**
     * The asset's `updated_at` while this was its content. A later `updated_at` means that the content of the server
     * changed after the base was stored.
     */
    updated_at: columns.createdAt()
  }
})
export type SyncBase = InferEntity<typeof SyncBase>

/** The uploads of a deleted account: its rows as they were, to be restored with their ids. */
export const DeletedAccount = defineEntity({
  name: 'DeletedAccount',
  tableName: 'deleted_accounts',
  properties: {
    id: columns.id(),
    username: columns.text(),
    /** Rows of `assets`. */
    assets: p.json<object[]>(),
    /** Rows of `asset_versions`. */
    versions: p.json<object[]>(),
    deleted_at: columns.createdAt()
  }
})
export type DeletedAccount = InferEntity<typeof DeletedAccount>
