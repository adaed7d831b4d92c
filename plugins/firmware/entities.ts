import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Platform } from '../platforms/entities.ts'

export const Firmware = defineEntity({
  name: 'Firmware',
  tableName: 'firmware',
  uniques: [{ properties: ['platform', 'file_name', 'library_id'] }],
  properties: {
    id: columns.id(),
    platform: () => p.manyToOne(Platform).deleteRule('cascade').joinColumn('platform_id'),
    library_id: p.integer().default(1),
    file_name: columns.text(),
    file_path: columns.text(),
    file_size_bytes: columns.bytes(),
    crc_hash: columns.text().default(''),
    md5_hash: columns.text().default(''),
    sha1_hash: columns.text().default(''),
    is_verified: columns.flag(),
    missing_from_fs: columns.flag(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type Firmware = InferEntity<typeof Firmware>
