import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Id, Nullable, StringEnum } from '../../core/typebox.ts'

const KindCounts = Type.Object({
  listed: Type.Integer({ description: 'Records that were read: the sum of `new`, `present`, `version` and `skipped` when the import has finished' }),
  new: Type.Integer(),
  present: Type.Integer({ description: 'Records that this server had already' }),
  version: Type.Integer({ description: 'Contents that became former versions, because this server has other content of that name' }),
  skipped: Type.Integer(),
  files_skipped: Type.Integer({ description: 'Pictures and documents of these records that were left out' })
})

export const ImportReportSchema = Type.Object({
  importer: Type.String(),
  source: Type.String({ description: 'The program and its version' }),
  dry_run: Type.Boolean(),
  status: StringEnum(['running', 'finished', 'failed', 'stopped']),
  error: Nullable(Type.String()),
  counts: Type.Record(Type.String(), KindCounts, { description: 'By kind of record' }),
  absent: Type.Record(Type.String(), Type.String(), { description: 'Kinds that the source cannot give, with the reason' }),
  skipped: Type.Array(Type.Object({
    kind: Type.String(), id: Nullable(Type.String()), name: Nullable(Type.String()), reason: Type.String()
  }), { description: 'At most 2,000 records that were left out' }),
  skipped_count: Type.Integer(),
  warnings: Type.Array(Type.String())
}, { title: 'ImportReport' })
export type ImportReport = Static<typeof ImportReportSchema>

export const ImportRequestSchema = Type.Object({
  importer: Type.String({ maxLength: 64, description: 'The key of a program whose settings are in the configuration, below `imports`' }),
  dry_run: Type.Optional(Type.Boolean({ description: 'Reads everything and stores nothing; the report is the plan' })),
  user_id: Type.Optional(Nullable(Id))
}, { title: 'ImportRequest', additionalProperties: false })

/** The report of an import in a list. */
export const ImportSummarySchema = Type.Omit(ImportReportSchema, ['skipped', 'warnings'], { title: 'ImportSummary' })

const Run = {
  id: Type.String({ format: 'uuid', description: 'The id of its task' }),
  importer: Type.String(),
  dry_run: Type.Boolean(),
  created_at: DateTime
}

export const ListedImportSchema = Type.Object({ ...Run, report: ImportSummarySchema }, { title: 'ListedImport' })
export type ListedImportView = Static<typeof ListedImportSchema>

export const ImportRunSchema = Type.Object({ ...Run, report: ImportReportSchema }, { title: 'ImportRun' })

export const ImportStartedSchema = Type.Object({ task_id: Type.String({ format: 'uuid' }) }, { title: 'ImportStarted' })
export type ImportRunView = Static<typeof ImportRunSchema>

/** The input of the task. */
export const ImportPayloadSchema = Type.Object({
  importer: Type.String(),
  /** Sealed, because a setting may be a password. */
  settings: Type.String(),
  dry_run: Type.Boolean(),
  user_id: Nullable(Id)
})
export type ImportPayload = Static<typeof ImportPayloadSchema>
