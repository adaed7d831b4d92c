import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Rom } from '../roms/entities.ts'

/** A DAT file: a list of games with the hashes of their files. */
export const Dat = defineEntity({
  name: 'Dat',
  tableName: 'dats',
  properties: {
    id: columns.id(),
    /** The name without dates and versions. Versions of one DAT have the same key. */
    key: columns.text().unique(),
    name: columns.text(),
    description: columns.text().default(''),
    version: columns.text().default(''),
    date: columns.text().default(''),
    author: columns.text().default(''),
    /** The file in the folder of DATs; null for an upload. */
    folder_path: columns.text().nullable(),
    /** The platforms whose ROMs are compared with the DAT. */
    platform_slugs: columns.texts(),
    /** True if an administrator chose the platforms. A newer version of the DAT keeps them. */
    is_platform_chosen: columns.flag(),
    game_count: p.integer().default(0),
    file_count: p.integer().default(0),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type Dat = InferEntity<typeof Dat>

/** A file in the folder of DATs, as it was when it was read. */
export const DatFolderFile = defineEntity({
  name: 'DatFolderFile',
  tableName: 'dat_folder_files',
  properties: {
    path: columns.text().primary(),
    file_size_bytes: p.bigint('number'),
    modified_ms: p.bigint('number'),
    /** The first reason why a DAT in the file was not stored. */
    problem: columns.text().nullable()
  }
})

/** A game of a DAT. No foreign key, because its checks would take most of the time of a load. */
export const DatGame = defineEntity({
  name: 'DatGame',
  tableName: 'dat_games',
  indexes: [{ properties: ['dat_id', 'name'] }],
  properties: {
    dat_id: p.integer().primary().autoincrement(false),
    /** The place in the DAT, from 0. */
    position: p.integer().primary(),
    name: columns.text(),
    clone_of: columns.text().nullable(),
    /** The number of files that a complete game has. */
    needed: p.integer()
  }
})

/** Creates an index over hashes that are known. */
const hashIndex = (column: string, condition: string) => ({
  name: `dat_files_${column}`, expression: `create index "dat_files_${column}" on "dat_files" ("${column}") where ${condition}`
})

/** A file of a game; without a foreign key, as a game. */
export const DatFile = defineEntity({
  name: 'DatFile',
  tableName: 'dat_files',
  indexes: [
    hashIndex('sha1_hash', "sha1_hash <> ''"),
    hashIndex('md5_hash', "md5_hash <> ''"),
    hashIndex('crc_hash', "crc_hash <> '' and sha1_hash = '' and md5_hash = ''")
  ],
  properties: {
    dat_id: p.integer().primary().autoincrement(false),
    /** The position of the game. */
    game: p.integer().primary(),
    /** The place in the game, from 0. */
    position: p.integer().primary(),
    name: columns.text(),
    file_size_bytes: p.bigint('number').nullable(),
    crc_hash: columns.text().default(''),
    md5_hash: columns.text().default(''),
    sha1_hash: columns.text().default(''),
    status: columns.text(),
    /** The name in the set of the parent, which then holds the file. */
    merge: columns.text().nullable(),
    is_disk: columns.flag(),
    /** True if a complete game has the file. */
    is_needed: columns.flag()
  }
})

/** A ROM that has files of a game. */
export const DatMatch = defineEntity({
  name: 'DatMatch',
  tableName: 'dat_matches',
  properties: {
    dat: () => p.manyToOne(Dat).primary().deleteRule('cascade').joinColumn('dat_id'),
    /** The position of the game. */
    game: p.integer().primary(),
    rom: () => p.manyToOne(Rom).primary().deleteRule('cascade').joinColumn('rom_id').index(),
    /** True if the ROM has every file that the game needs. */
    is_complete: columns.flag(),
    /** True if the DAT calls a matched file a bad dump. */
    is_bad: columns.flag(),
    /** True for the game of this DAT that fits the ROM best. */
    is_best: columns.flag(),
    /** The name of the ROM on disk by the DAT; null if the DAT gives no name that a file can have. */
    expected_name: columns.text().nullable()
  }
})
