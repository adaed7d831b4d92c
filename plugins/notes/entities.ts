import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Rom } from '../roms/entities.ts'
import { User } from '../users/entities.ts'

/** A note of a user about a ROM. */
export const Note = defineEntity({
  name: 'Note',
  tableName: 'notes',
  uniques: [{ properties: ['rom', 'user', 'title'] }],
  properties: {
    id: columns.id(),
    /** The ROM may be absent from the library. Its notes are visible again when it returns. */
    rom: () => p.manyToOne(Rom).createForeignKeyConstraint(false).joinColumn('rom_id'),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    title: columns.text(),
    content: columns.text().default(''),
    is_public: columns.flag(),
    tags: p.array().columnType('text[]').nullable(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type Note = InferEntity<typeof Note>
