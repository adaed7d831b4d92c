import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/** A file that crashed the process that read it; skipped until its size or time changes. */
export const CrashedFile = defineEntity({
  name: 'CrashedFile',
  tableName: 'crashed_files',
  properties: {
    path: columns.text().primary(),
    size_bytes: p.bigint('number'),
    modified_ms: p.bigint('number'),
    reason: columns.text(),
    created_at: columns.createdAt()
  }
})
export type CrashedFile = InferEntity<typeof CrashedFile>
