import { Type } from '@sinclair/typebox'
import { Formatted, Section } from './setting.ts'
import { StringEnum } from '../typebox.ts'

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
