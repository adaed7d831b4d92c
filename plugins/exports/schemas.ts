import { type Static, Type } from '@sinclair/typebox'
import { Id, Nullable } from '../../core/typebox.ts'

export const ExportBodySchema = Nullable(Type.Object({
  platforms: Type.Optional(Type.Array(Type.String({ minLength: 1 }), {
    description: 'Slugs or folder names of platforms; an empty list means all'
  }))
}))

export const ExportQuerySchema = Type.Object({
  platform_ids: Type.Optional(Type.Array(Id, {
    description: 'Ids of platforms, in addition to those in the body'
  })),
  local_export: Type.Optional(Type.Boolean({
    description:
      'Without effect: the file is beside the ROMs, so paths are always relative and media ' +
      'always beside them, because no frontend starts a game from an address'
  }))
})

export const SkippedRomSchema = Type.Object({ rom_id: Type.Integer(), reason: Type.String() }, { title: 'SkippedRom' })
export type SkippedRom = Static<typeof SkippedRomSchema>

const MediaErrorSchema = Type.Object({
  path: Type.String({ description: 'The file or folder, relative to the platform folder' }),
  reason: Type.String()
}, { title: 'MediaError' })
export type MediaError = Static<typeof MediaErrorSchema>

const ExportedFileSchema = Type.Object({
  exporter: Type.String({ description: 'Key of the exporter' }),
  platform: Type.String({ description: 'Slug of the platform' }),
  library_id: Type.Integer({ description: 'Id of the library that contains the file' }),
  path: Type.String({
    description: 'Absolute path on the server; below `<library>` for callers who are not administrators'
  }),
  written: Type.Boolean({ description: 'False if the file already had this content and was not written' }),
  games: Type.Integer(),
  media_files: Type.Integer({ description: 'Number of media of these games beside the ROMs' }),
  skipped: Type.Array(SkippedRomSchema, { description: 'ROMs that the file cannot contain' }),
  media_errors: Type.Array(MediaErrorSchema, { description: 'Media that could not be written; the first 100' })
}, { title: 'ExportedFile' })
export type ExportedFile = Static<typeof ExportedFileSchema>

const FailedExportSchema = Type.Object({
  exporter: Type.String(),
  platform: Type.String(),
  path: Type.String({ description: 'Path of the file that was not written; path of the library if the library cannot be read' }),
  reason: Type.String(),
  is_unavailable: Type.Boolean({
    default: false, description: 'True if the library cannot be read now, such as one that is not mounted'
  })
}, { title: 'FailedExport' })
export type FailedExport = Static<typeof FailedExportSchema>

export const ExportOutcomeSchema = Type.Object({
  files: Type.Array(ExportedFileSchema),
  errors: Type.Array(FailedExportSchema, { description: 'The errors of platforms; they do not affect the others' })
}, { title: 'ExportOutcome' })
export type ExportOutcome = Static<typeof ExportOutcomeSchema>
