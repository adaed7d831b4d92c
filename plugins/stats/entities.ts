import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/**
 * How many ROMs of a platform and an age have something: the sum of all rows that are alike. Written by the database
 * with each change of ROMs and matches, so that counting reads none of them; what writes adds a row and waits for
 * nobody.
 */
export const LibraryCount = defineEntity({
  name: 'LibraryCount',
  tableName: 'library_counts',
  properties: {
    id: columns.id(),
    platform_id: p.integer(),
    min_age: p.integer().nullable(),
    /** `extension` counts each ROM once, `region` once for each that it has, `provider` for each that knows it. */
    kind: columns.text(),
    key: columns.text(),
    roms: p.integer(),
    bytes: columns.bytes()
  }
})
export type LibraryCount = InferEntity<typeof LibraryCount>
