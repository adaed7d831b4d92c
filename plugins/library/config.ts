import { Type } from '@sinclair/typebox'
import { Formatted, Names, Section } from '../../core/config/setting.ts'
import { StringEnum } from '../../core/typebox.ts'

export const ExcludeSchema = Section({
  platforms: Names('Platform folders left out, names or patterns (*, ?, [...])'),
  roms: Section({
    single_file: Section({
      extensions: Names('Extensions of files that are not ROMs'),
      names: Names('Names or patterns of files that are not ROMs')
    }),
    multi_file: Section({
      names: Names('Names or patterns of folders that are not ROMs'),
      parts: Section({
        extensions: Names('Extensions left out inside ROM folders'),
        names: Names('Names or patterns left out inside ROM folders')
      })
    })
  })
}, 'What the scan leaves out')

export const STRUCTURES = ['roms/{platform}/{game}', '{platform}/roms/{game}'] as const

/** A section, as defaults are filled into sections alone. */
const LibrarySchema = Section({
  path: Type.String({ minLength: 1, description: 'Its root folder' }),
  writable: Type.Boolean({
    default: true, description: 'false: nothing is renamed, uploaded or exported into it, whoever asks for that'
  }),
  watched: Type.Boolean({ default: true, description: 'false: the watcher leaves it alone, as is best for network shares' }),
  structure: Type.Optional(StringEnum(STRUCTURES, {
    description: 'How its folders lie; without it as filesystem.structure says, else as it is found'
  }))
})

export const LibrariesSchema = Type.Record(Type.String(), LibrarySchema, {
  default: {},
  description: 'Name → root folder, for libraries that lie in several places. They are all there are: with any, library_dir ' +
    'counts for nothing, so the folder it names is to be listed too'
})

export const FilesystemSchema = Section({
  roms_folder: Formatted('folder-name', { default: 'roms', description: 'Name of the folder that holds ROMs' }),
  firmware_folder: Formatted('folder-name', {
    default: 'bios', description: 'Name of the folder that holds firmware'
  }),
  skip_hash_calculation: Type.Boolean({ default: false, description: 'Reads no file contents; hash lookups find nothing' }),
  structure: Section({
    default: Type.Optional(StringEnum(STRUCTURES,
      { description: 'Folder structure; without it it is detected' })),
    firmware: Type.Optional(StringEnum(['bios/{platform}', '{platform}/bios'],
      { description: 'Where firmware lies; without it as the structure says' }))
  })
}, 'How the library is laid out')
