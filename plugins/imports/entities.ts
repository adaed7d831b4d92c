import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/**
 * A record of another program that an import stored here. Nothing refers to the stored row: a person may delete it, and
 * a later import does not bring it back.
 */
export const ImportedId = defineEntity({
  name: 'ImportedId',
  tableName: 'imported_ids',
  primaryKeys: ['source', 'kind', 'old_id'],
  properties: {
    /** The `identity` of the importer. */
    source: columns.text().primary(),
    kind: columns.text().primary(),
    old_id: columns.text().primary(),
    new_id: p.integer(),
    created_at: columns.createdAt()
  }
})

/** One import, with its report. */
export const ImportRun = defineEntity({
  name: 'ImportRun',
  tableName: 'import_runs',
  properties: {
    /** The id of its task. */
    id: p.uuid().primary(),
    /** The key of the importer. */
    importer: columns.text(),
    dry_run: columns.flag(),
    /** The `ImportReport` at its last write. */
    report: p.json<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type ImportRun = InferEntity<typeof ImportRun>
