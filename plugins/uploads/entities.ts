import { defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Platform } from '../platforms/entities.ts'
import { User } from '../users/entities.ts'

/** A ROM that arrives in parts. */
export const RomUpload = defineEntity({
  name: 'RomUpload',
  tableName: 'rom_uploads',
  properties: {
    id: p.uuid().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    platform: () => p.manyToOne(Platform).deleteRule('cascade').joinColumn('platform_id').index(),
    library_id: p.integer().default(1),
    /** The platform's folder of ROMs, relative to the library. */
    fs_path: columns.text(),
    file_name: columns.text(),
    total_size: p.bigint('number'),
    total_chunks: p.integer(),
    /** What all chunks but the last have, as far as is known. */
    chunk_size: p.bigint('number').nullable(),
    /** The process that puts it in its place. */
    assembled_by: columns.text().nullable(),
    created_at: columns.createdAt()
  }
})

/** A part that is there whole. */
export const RomUploadChunk = defineEntity({
  name: 'RomUploadChunk',
  tableName: 'rom_upload_chunks',
  primaryKeys: ['upload', 'number'],
  properties: {
    upload: () => p.manyToOne(RomUpload).primary().deleteRule('cascade').joinColumn('upload_id'),
    /** Counted from 0. */
    number: p.integer().primary(),
    size: p.bigint('number'),
    /** Whether it has a file of its own, and does not lie at its place in that of the upload. */
    is_apart: p.boolean()
  }
})
