import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/**
 * The number of ROMs of one platform and age that share a value: the sum of all rows with the same key. The database
 * writes rows with each change of ROMs and matches, so that counting reads neither. A writer adds a row and waits for
 * no lock.
 */
export const LibraryCount = defineEntity({
  name: 'LibraryCount',
  tableName: 'library_counts',
  indexes: [{ properties: ['kind', 'platform_id'] }],
  properties: {
    id: columns.id(),
    /** 0 for all platforms and ages together. */
    platform_id: p.integer(),
    min_age: p.integer().nullable(),
    /**
     * `extension` and `player_count` count each ROM once, `region` once for each of its regions, `provider` once for
     * each provider that knows it. The other kinds are columns with lists, such as `genres`.
     */
    kind: columns.text(),
    key: columns.text(),
    roms: p.integer(),
    bytes: columns.bytes()
  }
})
export type LibraryCount = InferEntity<typeof LibraryCount>
