import { type Static, Type } from '@sinclair/typebox'
import { Id, Nullable } from '../../core/typebox.ts'

export const ExportBodySchema = Nullable(Type.Object({
  platforms: Type.Optional(Type.Array(Type.String({ minLength: 1 }), {
    description: 'Slugs or folder names of platforms; none means all'
  }))
}))

export const ExportQuerySchema = Type.Object({
  platform_ids: Type.Optional(Type.Array(Id, {
    description: 'Ids of platforms, besides those the body names'
  })),
  local_export: Type.Optional(Type.Boolean({
    description:
      'Accepted and without effect: the file lies beside the ROMs, so paths are always relative and media ' +
      'always beside them. No frontend starts a game from an address'
  }))
})

export const SkippedRomSchema = Type.Object({ rom_id: Type.Integer(), reason: Type.String() }, { title: 'SkippedRom' })
export type SkippedRom = Static<typeof SkippedRomSchema>

export const MediaErrorSchema = Type.Object({
  path: Type.String({ description: 'The file or folder, relative to the platform folder' }),
  reason: Type.String()
}, { title: 'MediaError' })
export type MediaError = Static<typeof MediaErrorSchema>

export const ExportedFileSchema = Type.Object({
  exporter: Type.String({ description: 'Key of the exporter' }),
  platform: Type.String({ description: "The platform's slug" }),
  library_id: Type.Integer({ description: 'The library it lies in' }),
  path: Type.String({
    description: 'Absolute, as the server sees it; below `<library>` for callers who are not administrators'
  }),
  written: Type.Boolean({ description: 'False if the file already had this content and was not written' }),
  games: Type.Integer(),
  media_files: Type.Integer({ description: 'Media of these games that lie beside the ROMs' }),
  skipped: Type.Array(SkippedRomSchema, { description: 'ROMs the file cannot hold' }),
  media_errors: Type.Array(MediaErrorSchema, { description: 'Media that could not be written; the first 100' })
}, { title: 'ExportedFile' })
export type ExportedFile = Static<typeof ExportedFileSchema>

export const FailedExportSchema = Type.Object({
  exporter: Type.String(),
  platform: Type.String(),
  path: Type.String({ description: 'The file that was not written; the library if that cannot be read' }),
  reason: Type.String()
}, { title: 'FailedExport' })
export type FailedExport = Static<typeof FailedExportSchema>

export const ExportOutcomeSchema = Type.Object({
  files: Type.Array(ExportedFileSchema),
  errors: Type.Array(FailedExportSchema, { description: 'The errors of platforms; they do not affect the others' })
}, { title: 'ExportOutcome' })
export type ExportOutcome = Static<typeof ExportOutcomeSchema>
