import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import type { RomWrite } from '../scans/rom-rows.ts'

/** A file that waits beside the library's own and is to have a place among them. Paths are relative to the library. */
export interface Placing {
  from: string
  to: string
  inode: string
  /** Whether it takes the place of a file of that name; else the name is free. */
  replaces: boolean
}

/** A file that goes once the new ones are in their places, as it was when it was read. */
export interface Original {
  path: string
  inode: string
  size: number
  /** Milliseconds. */
  mtime: number
}

/** Everything that is left to do once new files were found to hold what the old ones do. */
export interface Swap {
  placings: Placing[]
  originals: Original[]
  write: RomWrite
}

/**
 * A ROM that is being converted. With a swap it goes forward whatever happens, without one nothing was changed yet: a
 * process that ends in between leaves enough to know what to do. It refers to no ROM, so that it outlives one.
 */
export const RomConversion = defineEntity({
  name: 'RomConversion',
  tableName: 'rom_conversions',
  properties: {
    rom_id: p.integer().primary().autoincrement(false),
    platform_id: p.integer(),
    library_id: p.integer().default(1),
    /** The folder that holds everything temporary, relative to the library. */
    work_path: columns.text(),
    swap: p.json<Swap | null>().nullable(),
    created_at: columns.createdAt()
  }
})
export type RomConversion = InferEntity<typeof RomConversion>
