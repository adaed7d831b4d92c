import { Type } from '@sinclair/typebox'
import { Formatted, Names, Section } from '../../core/config/setting.ts'
import { StringEnum } from '../../core/typebox.ts'

export const ExcludeSchema = Section({
  platforms: Names('Excluded platform folders, names or patterns (*, ?, [...])'),
  roms: Section({
    single_file: Section({
      extensions: Names('Extensions of files that are not ROMs'),
      names: Names('Names or patterns of files that are not ROMs')
    }),
    multi_file: Section({
      names: Names('Names or patterns of folders that are not ROMs'),
      parts: Section({
        extensions: Names('Excluded extensions inside ROM folders'),
        names: Names('Excluded names or patterns inside ROM folders')
      })
    })
  })
}, 'Names that the scan skips')

export const STRUCTURES = ['roms/{platform}/{game}', '{platform}/roms/{game}'] as const

/** A section, because defaults are only filled into sections. */
const LibrarySchema = Section({
  path: Type.String({ minLength: 1, description: 'Root folder of the library' }),
  writable: Type.Boolean({
    default: true, description: 'false: the server never renames, uploads or exports anything in it'
  }),
  watched: Type.Boolean({ default: true, description: 'false: the watcher ignores it, as is best for network shares' }),
  structure: Type.Optional(StringEnum(STRUCTURES, {
    description: 'Folder structure; default: filesystem.structure, else detected'
  }))
})

export const LibrariesSchema = Type.Record(Type.String(), LibrarySchema, {
  default: {},
  description: 'Name → root folder, for several libraries. The list is complete: if it has any entry, library_dir is ignored, so ' +
    'its folder must be listed too'
})

export const FilesystemSchema = Section({
  roms_folder: Formatted('folder-name', { default: 'roms', description: 'Name of the folder that holds ROMs' }),
  firmware_folder: Formatted('folder-name', {
    default: 'bios', description: 'Name of the folder that holds firmware'
  }),
  skip_hash_calculation: Type.Boolean({ default: false, description: 'Reads no file contents; hash lookups find nothing' }),
  structure: Section({
    default: Type.Optional(StringEnum(STRUCTURES,
      { description: 'Folder structure; default: detected' })),
    firmware: Type.Optional(StringEnum(['bios/{platform}', '{platform}/bios'],
      { description: 'Location of firmware; default: as the structure says' }))
  })
}, 'Layout of the library')
