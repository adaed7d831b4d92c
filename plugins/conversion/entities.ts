import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import type { RomWrite } from '../scans/rom-write-rows.ts'

/** A staged file that gets a name in the library. Paths are relative to the library. */
export interface Publication {
  from: string
  to: string
  inode: string
  /** True if the file replaces an existing one; otherwise the name is free. */
  replaces: boolean
}

/** An old file, with the facts from its reading. It is deleted after the new files are published. */
export interface OriginalFile {
  path: string
  inode: string
  size: number
  /** The modification time in milliseconds. */
  mtime: number
}

/** All work that is left after the new files proved equal to the old ones. */
export interface Swap {
  placings: Publication[]
  originals: OriginalFile[]
  write: RomWrite
}

/**
 * A ROM that is being converted. With a swap the conversion is always finished; without one nothing has changed yet.
 * Both cases can be resumed after a crash. The row refers to no ROM, so that it outlives the ROM.
 */
export const RomConversion = defineEntity({
  name: 'RomConversion',
  tableName: 'rom_conversions',
  properties: {
    rom_id: p.integer().primary().autoincrement(false),
    platform_id: p.integer(),
    library_id: p.integer().default(1),
    /** The folder of all temporary files, relative to the library. */
    work_path: columns.text(),
    swap: p.json<Swap | null>().nullable(),
    created_at: columns.createdAt()
  }
})
export type RomConversion = InferEntity<typeof RomConversion>
