import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Rom } from '../roms/entities.ts'
import { User } from '../users/entities.ts'

/** What somebody wrote about a ROM. */
export const Note = defineEntity({
  name: 'Note',
  tableName: 'notes',
  uniques: [{ properties: ['rom', 'user', 'title'] }],
  properties: {
    id: columns.id(),
    /** May be gone from the library: the note is there when it is back. */
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
