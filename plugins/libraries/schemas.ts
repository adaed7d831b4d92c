import { type Static, Type } from '@sinclair/typebox'
import { DateTime, NameText, Nullable, StoredText, StringEnum } from '../../core/typebox.ts'
import { STRUCTURES } from '../../core/config/libraries.ts'

const NAME_MAX = 100
const PATH_MAX = 4_096
const NAME = NameText({ minLength: 1, maxLength: NAME_MAX, description: 'Name that people see' })
const PATH = StoredText({ minLength: 1, maxLength: PATH_MAX, description: 'Absolute path of the root folder on the server' })
const WRITABLE = Type.Boolean({ description: 'false: the server never renames, uploads or exports anything in it' })
const WATCHED = Type.Boolean({ description: 'false: the watcher ignores it' })

export const LibrarySchema = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  path: Nullable(Type.String({ description: 'Absolute path of the root folder; null unless the caller is an administrator' })),
  structure: Nullable(StringEnum(STRUCTURES, { description: 'Configured folder structure; null if it is detected' })),
  is_writable: Type.Boolean(),
  is_watched: Type.Boolean(),
  is_configured: Type.Boolean({
    description: 'false: it was removed from the configuration; its ROMs are still listed, but their files are not available'
  }),
  is_available: Type.Boolean({ description: 'True if it can be read now' }),
  problem: Nullable(Type.String({ description: 'The reason why it cannot be read' })),
  platform_count: Type.Integer(),
  rom_count: Type.Integer(),
  missing_count: Type.Integer({ description: 'ROMs whose files are missing' }),
  fs_size_bytes: Type.Integer(),
  free_bytes: Nullable(Type.Integer({ description: 'Free space on its disk; null if unknown, or unless the caller is an administrator' })),
  total_bytes: Nullable(Type.Integer({ description: 'Size of its disk; null under the same conditions as free_bytes' })),
  last_scan: Nullable(Type.Object({
    task_id: Type.String(),
    ended_at: DateTime,
    problem: Nullable(Type.String({ description: 'The reason why the scan did not finish, in which case no file was marked missing' }))
  }, { title: 'LibraryScan' }))
}, { title: 'Library' })
export type LibraryView = Static<typeof LibrarySchema>

export const AddLibrarySchema = Type.Object({
  name: NAME,
  path: PATH,
  writable: Type.Optional(WRITABLE),
  watched: Type.Optional(WATCHED),
  structure: Type.Optional(Nullable(StringEnum(STRUCTURES, { description: 'Folder structure; null detects it' })))
}, { title: 'AddLibrary' })
export type AddLibrary = Static<typeof AddLibrarySchema>

export const ChangeLibrarySchema = Type.Partial(AddLibrarySchema, { title: 'ChangeLibrary' })
export type ChangeLibrary = Static<typeof ChangeLibrarySchema>

export const RemoveLibraryQuery = Type.Object({
  forget: Type.Boolean({
    default: false, description: 'Deletes the rows of its ROMs and firmware too. Files stay, and so do the data of users about the ROMs'
  })
})
