import { type Static, Type } from '@sinclair/typebox'
import { DateTime, NameText, Nullable, StoredText, StringEnum } from '../../core/typebox.ts'
import { STRUCTURES } from '../library/config.ts'

const NAME_MAX = 100
const PATH_MAX = 4_096
const NAME = NameText({ minLength: 1, maxLength: NAME_MAX, description: 'What people call it' })
const PATH = StoredText({ minLength: 1, maxLength: PATH_MAX, description: 'Its root folder: absolute, as the server sees it' })
const WRITABLE = Type.Boolean({ description: 'false: nothing is renamed, uploaded or exported into it' })
const WATCHED = Type.Boolean({ description: 'false: the watcher leaves it alone' })

export const LibrarySchema = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  path: Nullable(Type.String({ description: 'Its root folder; null for callers who are no administrators' })),
  structure: Nullable(StringEnum(STRUCTURES, { description: 'How its folders lie as it is configured; null where that is found out' })),
  is_writable: Type.Boolean(),
  is_watched: Type.Boolean(),
  is_configured: Type.Boolean({
    description: 'false: it was taken out of the configuration, and ROMs of it are still known; their files cannot be reached'
  }),
  is_available: Type.Boolean({ description: 'Whether it can be read now' }),
  problem: Nullable(Type.String({ description: 'Why it cannot be read' })),
  platform_count: Type.Integer(),
  rom_count: Type.Integer(),
  missing_count: Type.Integer({ description: 'Those of the ROMs whose files are gone' }),
  fs_size_bytes: Type.Integer(),
  free_bytes: Nullable(Type.Integer({ description: 'Free on its disk; null where that is not known, and for callers who are no administrators' })),
  total_bytes: Nullable(Type.Integer({ description: 'The size of its disk, as free_bytes' })),
  last_scan: Nullable(Type.Object({
    task_id: Type.String(),
    ended_at: DateTime,
    problem: Nullable(Type.String({ description: 'Why it was not scanned to its end; nothing of it was marked missing then' }))
  }, { title: 'LibraryScan' }))
}, { title: 'Library' })
export type LibraryView = Static<typeof LibrarySchema>

export const AddLibrarySchema = Type.Object({
  name: NAME,
  path: PATH,
  writable: Type.Optional(WRITABLE),
  watched: Type.Optional(WATCHED),
  structure: Type.Optional(Nullable(StringEnum(STRUCTURES, { description: 'How its folders lie; null finds that out' })))
}, { title: 'AddLibrary' })
export type AddLibrary = Static<typeof AddLibrarySchema>

export const ChangeLibrarySchema = Type.Partial(AddLibrarySchema, { title: 'ChangeLibrary' })
export type ChangeLibrary = Static<typeof ChangeLibrarySchema>

export const RemoveLibraryQuery = Type.Object({
  forget: Type.Boolean({
    default: false, description: 'Deletes the rows of its ROMs and firmware too. Files stay, and so does what people made of the ROMs'
  })
})
