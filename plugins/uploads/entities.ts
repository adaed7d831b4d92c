import { defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Platform } from '../platforms/entities.ts'
import { User } from '../users/entities.ts'

/** A ROM that is uploaded in chunks. */
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
    /** The size of all chunks but the last, as far as known. */
    chunk_size: p.bigint('number').nullable(),
    /** The process that assembles the upload. */
    assembled_by: columns.text().nullable(),
    created_at: columns.createdAt()
  }
})

/** A completely received chunk. */
export const RomUploadChunk = defineEntity({
  name: 'RomUploadChunk',
  tableName: 'rom_upload_chunks',
  primaryKeys: ['upload', 'number'],
  properties: {
    upload: () => p.manyToOne(RomUpload).primary().deleteRule('cascade').joinColumn('upload_id'),
    /** The index of the chunk, from 0. */
    number: p.integer().primary(),
    size: p.bigint('number'),
    /** True if the chunk has its own file, and is not at its position in the file of the upload. */
    is_apart: p.boolean()
  }
})

/** A chunk that a process is writing into the file of its upload. */
export const RomUploadWrite = defineEntity({
  name: 'RomUploadWrite',
  tableName: 'rom_upload_writes',
  properties: {
    id: p.uuid().primary(),
    upload: () => p.manyToOne(RomUpload).deleteRule('cascade').joinColumn('upload_id').index(),
    worker_id: columns.text()
  }
})
