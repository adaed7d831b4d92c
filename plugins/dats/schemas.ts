import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Bytes, DateTime, Id, Limit, Nullable, Offset, StoredText, idOf } from '../../core/typebox.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const Slug = StoredText({ minLength: 1, maxLength: 200 })
const slugs = (description: string) => Type.Array(Slug, { maxItems: 100, description })

export const DatSchema = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  description: Type.String(),
  version: Type.String({ description: 'Empty when the DAT states none' }),
  author: Type.String(),
  folder_path: Nullable(Type.String({ description: 'Path in the folder of DATs; null for an upload' })),
  platform_slugs: Type.Array(Type.String(), { description: 'Platforms whose ROMs are compared with the DAT; empty if its name names none' }),
  is_platform_chosen: Type.Boolean({ description: 'True if an administrator chose the platforms' }),
  platform_ids: Type.Array(Type.Integer(), { description: 'These platforms in the library, as far as you see them' }),
  game_count: Count('Games of which a dump is known'),
  file_count: Count('Files of all games'),
  have_count: Count('Games that are complete in a ROM that you see'),
  miss_count: Count('Other games'),
  extra_count: Count('ROMs of these platforms that you see and that are no game of the DAT'),
  created_at: DateTime,
  updated_at: DateTime
}, { title: 'Dat' })
export type DatView = Static<typeof DatSchema>

const page = <T extends TSchema>(item: T, title: string) => Type.Object({
  items: Type.Array(item), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer()
}, { title })

const DatGameSchema = Type.Object({
  position: Type.Integer({ description: 'Place in the DAT' }),
  name: Type.String(),
  clone_of: Nullable(Type.String()),
  file_count: Type.Integer({ description: 'Files that a complete game has' }),
  rom_ids: Type.Array(Type.Integer(), { description: 'ROMs that you see and that hold the complete game' })
}, { title: 'DatGame' })
export type DatGameView = Static<typeof DatGameSchema>

const DatRomSchema = Type.Object({ rom_id: Type.Integer(), platform_id: Type.Integer(), fs_name: Type.String() }, { title: 'DatRom' })
export type DatRomView = Static<typeof DatRomSchema>

const DatRenameSchema = Type.Object({
  rom_id: Type.Integer(),
  platform_id: Type.Integer(),
  fs_name: Type.String({ description: 'The name on disk' }),
  new_name: Type.String({ description: 'The name by the DAT' }),
  refusal: Nullable(Type.String({ description: 'The reason why the ROM keeps its name' }))
}, { title: 'DatRename' })
export type DatRenameView = Static<typeof DatRenameSchema>

export const DatGamePageSchema = page(DatGameSchema, 'DatGamePage')
export const DatRomPageSchema = page(DatRomSchema, 'DatRomPage')
export const DatRenamePageSchema = page(DatRenameSchema, 'DatRenamePage')

export const ListDatsQuery = Type.Object({ platform_id: Type.Optional(idOf('a platform, whose DATs alone are listed')) })
export const PageQuery = Type.Object({ limit: Limit, offset: Offset })
export type PageQuery = Static<typeof PageQuery>
export const ListGamesQuery = Type.Object({
  ...PageQuery.properties,
  is_present: Type.Optional(Type.Boolean({ description: 'True lists games that you have, false lists those that you miss' }))
})
export type ListGamesQuery = Static<typeof ListGamesQuery>

const CHOICE = 'Slugs of the platforms of the DAT, in place of those in its name'
export const UploadDatsQuery = Type.Object({
  platform_slugs: Type.Optional({ ...slugs(CHOICE), minItems: 1 } as ReturnType<typeof slugs>)
})
export const UploadDatsForm = Type.Object({
  files: Type.Array(Bytes, { description: 'DAT files in XML or the text format of ClrMamePro, or archives (`.zip`, `.7z`) of them' })
}, { title: 'UploadDatsForm' })
export const ChangeDatSchema = Type.Object({
  platform_slugs: Nullable(slugs(`${CHOICE}; null for those in its name`))
}, { title: 'ChangeDat' })

export const RenameArgumentsSchema = Type.Object({
  dat_id: Id,
  rom_ids: Type.Optional(Type.Array(Id, { maxItems: 10_000, description: 'Only these ROMs' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'Reports the planned renames and changes nothing' }))
}, { additionalProperties: false })
export type RenameArguments = Static<typeof RenameArgumentsSchema>
