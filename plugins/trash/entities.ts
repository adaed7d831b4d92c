import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { User } from '../users/entities.ts'

export const TRASH_KINDS = ['rom', 'file'] as const

/** Rows from before the deletion, by table. */
export type TrashedRows = Record<'roms' | 'rom_files' | 'rom_matches', Record<string, unknown>[]>

/**
 * A ROM, or a single file of one, in the trash of its library. The row is stored before the files are moved. It refers
 * to no ROM, platform or library, so that it outlives them.
 */
export const TrashItem = defineEntity({
  name: 'TrashItem',
  tableName: 'trash_items',
  indexes: [{ properties: ['library_id', 'entry'] }, { properties: ['rom_id'] }],
  properties: {
    id: columns.id(),
    kind: p.enum(TRASH_KINDS),
    library_id: p.integer(),
    platform_id: p.integer(),
    platform_fs_slug: columns.text(),
    rom_id: p.integer(),
    /** The name of the ROM, for people. */
    name: columns.text(),
    /** The minimum age of the ROM, which decides who sees it. */
    min_age: p.integer().nullable(),
    /** The folder of the item in the trash. */
    entry: columns.text(),
    /** The platform's folder of ROMs, relative to the library. */
    fs_path: columns.text(),
    /** The former folder of the item, relative to the library. */
    file_path: columns.text(),
    file_name: columns.text(),
    /** The former folder of a file below the ROM's own folder; null for a ROM. */
    below: columns.text().nullable(),
    is_folder: columns.flag(),
    file_size_bytes: columns.bytes(),
    /** The rows of a ROM; null for a single file. */
    kept: p.json<TrashedRows | null>().nullable(),
    deleted_by: () => p.manyToOne(User).deleteRule('set null').joinColumn('deleted_by').nullable().index(),
    deleted_at: columns.createdAt()
  }
})
export type TrashItem = InferEntity<typeof TrashItem>
