import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Limit, LIMIT_MAX, Nullable, Offset, StringEnum, idOf } from '../../core/typebox.ts'
import { TRASH_KINDS } from './entities.ts'

export const ListTrashQuery = Type.Object({ limit: Limit, offset: Offset })

export const TrashItemSchema = Type.Object({
  id: Type.Integer(),
  kind: StringEnum(TRASH_KINDS, { description: 'A whole ROM, or a single file of one' }),
  rom_id: Type.Integer({ description: 'The id of the ROM, also after a restore' }),
  name: Type.String({ description: 'The former name of the ROM' }),
  platform_id: Type.Integer(),
  platform_fs_slug: Type.String(),
  library_id: Type.Integer(),
  full_path: Type.String({ description: 'The former path, relative to the library' }),
  is_folder: Type.Boolean(),
  file_size_bytes: Type.Integer(),
  deleted_at: DateTime,
  deleted_by: Nullable(Type.String({ description: 'A username; null if that account was deleted, or nobody was signed in' })),
  kept_until: DateTime,
  problem: Nullable(Type.String({ description: 'The reason why it cannot be restored now; null if it can' }))
}, { title: 'TrashItem' })
export type TrashItemView = Static<typeof TrashItemSchema>

export const TrashPageSchema = Type.Object({
  items: Type.Array(TrashItemSchema), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer()
}, { title: 'TrashPage' })
export type TrashPage = Static<typeof TrashPageSchema>

const Items = Type.Array(idOf('an item in the trash'), { maxItems: LIMIT_MAX })
export const RestoreSchema = Type.Object({ items: Items }, { title: 'RestoreTrash' })
export const EmptySchema = Type.Object({
  items: Type.Optional({ ...Items, description: 'The items to delete; by default all items of the trash that you may see' })
}, { title: 'EmptyTrash' })
