import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Asset } from '../assets/entities.ts'
import { Device } from '../devices/entities.ts'
import { Rom } from '../roms/entities.ts'
import { User } from '../users/entities.ts'

/** A path that a client stored or may fetch. Its content is an asset, or a file of its own. */
export const WebdavFile = defineEntity({
  name: 'WebdavFile',
  tableName: 'webdav_files',
  uniques: [{ properties: ['user', 'folded'] }],
  properties: {
    id: columns.id(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id'),
    /** The path below the address of the sync, as its first client wrote it. */
    path: columns.text(),
    /** The path with ASCII letters in lower case, because clients compare paths so. */
    folded: columns.text(),
    asset: () => p.manyToOne(Asset).deleteRule('set null').joinColumn('asset_id').nullable().index(),
    /** The game that a person or an earlier upload chose for this path. */
    rom: () => p.manyToOne(Rom).deleteRule('set null').joinColumn('rom_id').nullable().index(),
    /** SHA-1 and MD5 of the same bytes: those that were listed last. */
    sha1: columns.text().nullable(),
    md5: columns.text().nullable(),
    file_size_bytes: columns.bytes(),
    /** Path below the assets folder; null if the content is an asset. */
    disk_path: columns.text().nullable(),
    /** Time when the owner deleted the file. */
    deleted_at: columns.time().nullable(),
    updated_at: columns.createdAt()
  }
})
export type WebdavFile = InferEntity<typeof WebdavFile>

/** The state of a path that a device was told last. */
export const WebdavListing = defineEntity({
  name: 'WebdavListing',
  tableName: 'webdav_listings',
  primaryKeys: ['device', 'file'],
  properties: {
    device: () => p.manyToOne(Device).primary().deleteRule('cascade').joinColumn('device_id'),
    file: () => p.manyToOne(WebdavFile).primary().deleteRule('cascade').joinColumn('file_id').index(),
    /** SHA-1 of the listed content, empty for a deletion, null if the path was left out. */
    listed: columns.text().nullable(),
    /** SHA-1 of the content that the device sent or fetched last; null for none. */
    held: columns.text().nullable(),
    /** True if the device sent the held content, and was told of no other since; a fetch may have failed. */
    is_sent: columns.flag(),
    /** Number of lists in a row whose entry the device did not follow. */
    misses: p.integer().default(0),
    /** Time when the device deleted the file. */
    deleted_at: columns.time().nullable()
  }
})
export type WebdavListing = InferEntity<typeof WebdavListing>
