import type { ArchiveMember } from '../../core/archives/types.ts'
import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { countChanges, statementTriggers } from '../library/entities.ts'
import { Platform } from '../platforms/entities.ts'
import { User } from '../users/entities.ts'
import { type GameFieldName, gameFieldsIn } from './game-fields.ts'
import { type ManualMetadata, type RomColumnName, type StoredMedia, romProperties } from './rom-columns.ts'

export type { ManualMetadata, StoredMedia }

/** The tags of an audio file. */
export interface TrackMeta {
  title: string | null
  artist: string | null
  album: string | null
  genre: string | null
  year: number | null
  track: number | null
  disc: number | null
  duration_seconds: number | null
  has_embedded_cover: boolean
  /** Path in the resources folder. */
  cover_path: string | null
}

/** Columns of a ROM that decide which ROM of a group is shown. */
const PLACE = ['platform_id', 'fs_name', 'fs_name_no_ext', 'regions']
/** Columns of a ROM that decide what its searched names are. */
const NAMES = ['id', 'name', 'fs_name']
/** Columns of a ROM that decide what its values are. */
const VALUES = ['id', ...gameFieldsIn('filters'), 'tags', 'player_count', 'platform_id']

/** Creates a trigger that runs for each row of which one of these columns changed. */
const changeTrigger = (name: string, columns: readonly string[], execute: string) => ({
  name,
  timing: 'after' as const,
  events: ['update' as const],
  expression: `create trigger ${name} after update of ${columns.join(', ')} on "roms" for each row ` +
    `when (${columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ')}) execute function ${execute}()`
})

/** Creates an index over a value that not all rows have. */
const valueIndex = (table: string, column: string) => ({
  name: `${table}_${column}_index`,
  expression: `create index "${table}_${column}_index" on "${table}" ("${column}") where "${column}" is not null`
})

/** Creates an index over the names of the few ROMs with a flag. */
const flagIndex = (column: string) => ({
  name: `roms_${column}_by_name`,
  expression: `create index "roms_${column}_by_name" on "roms" ("name_sort_key", "id") where "${column}"`
})

/** Saves find the ROM with their name by it. */
const FOLDED_NAME = {
  name: 'roms_folded_fs_name_no_ext',
  expression: 'create index "roms_folded_fs_name_no_ext" on "roms" (lower(normalize("fs_name_no_ext")))'
}

/**
 * Covers visibility and some filters, so lists read no rows. The covered columns have a fixed length, because names may
 * be long.
 */
const BY_NAME = {
  name: 'roms_by_name',
  expression: 'create index "roms_by_name" on "roms" ("name_sort_key", "id") ' +
    'include ("platform_id", "library_id", "min_age", "fs_size_bytes", "missing_from_fs", "has_soundtrack")'
}

export const Rom = defineEntity({
  name: 'Rom',
  tableName: 'roms',
  triggers: [countChanges('roms'), {
    name: 'keep_former',
    timing: 'before',
    events: ['delete'],
    expression: 'create trigger keep_former before delete on "roms" for each row execute function keep_former_rom()'
  }, {
    name: 'count_matches_of_gone',
    timing: 'before',
    events: ['delete'],
    expression: 'create trigger count_matches_of_gone before delete on "roms" for each row execute function count_matches_of_gone()'
  }, changeTrigger('keep_place_of_game', PLACE, 'keep_place_of_game'), changeTrigger('keep_names_update', NAMES, 'keep_names'),
  changeTrigger('keep_values_update', VALUES, 'keep_values'), ...statementTriggers('roms', 'keep_names', ['insert', 'delete']),
  ...statementTriggers('roms', 'keep_values', ['insert', 'delete']), ...statementTriggers('roms', 'count_roms'),
  ...statementTriggers('roms', 'log_roms')],
  uniques: [{ properties: ['platform', 'fs_name', 'library_id'] }],
  indexes: [
    { properties: ['library_id'] },
    BY_NAME,
    { properties: ['platform', 'name_sort_key', 'id'] },
    { properties: ['created_at'] },
    { properties: ['updated_at'] },
    { properties: ['fs_size_bytes'] },
    valueIndex('roms', 'average_rating'),
    valueIndex('roms', 'first_release_date'),
    flagIndex('missing_from_fs'),
    flagIndex('has_soundtrack'),
    valueIndex('roms', 'ra_hash'),
    FOLDED_NAME
  ],
  properties: {
    ...romProperties(),
    platform: () => p.manyToOne(Platform).deleteRule('cascade').joinColumn('platform_id')
  }
})
export type Rom = InferEntity<typeof Rom>
/** The values of columns, as stored. */
export type RomValues<Name extends RomColumnName> =
  { [One in Name]: One extends keyof Rom ? Exclude<Rom[One], undefined> : number }
/** The fields that providers fill, as stored. */
export type GameValues = RomValues<GameFieldName>

/** Field locks of a ROM whose row was deleted: the locked columns, and the matches that a person chose or wrote. */
export interface FormerLocks { rom: Record<string, unknown>, matches: Record<string, unknown>[] }

/**
 * A file whose row was deleted. The database writes these rows. When the file returns, its row gets its id and field
 * locks again. With the id it regains every row of a table whose `rom` has no foreign key.
 */
export const FormerRom = defineEntity({
  name: 'FormerRom',
  tableName: 'former_roms',
  indexes: [{ properties: ['platform_id', 'fs_name'] }],
  properties: {
    id: p.integer().primary().autoincrement(false),
    library_id: p.integer().default(1),
    platform_id: p.integer(),
    fs_name: columns.text(),
    fs_size_bytes: columns.bytes(),
    sha1_hash: columns.text().default('').index(),
    /** Null if a person set nothing. */
    locks: p.json<FormerLocks | null>().nullable(),
    deleted_at: columns.createdAt()
  }
})

export const RomFile = defineEntity({
  name: 'RomFile',
  tableName: 'rom_files',
  triggers: [countChanges('rom_files')],
  uniques: [{ properties: ['rom', 'file_path', 'file_name'] }],
  indexes: [
    valueIndex('rom_files', 'ra_hash'),
    valueIndex('rom_files', 'chd_sha1_hash'),
    {
      name: 'rom_files_stem',
      expression: 'create index "rom_files_stem" on "rom_files" (lower(normalize(regexp_replace("file_name", \'\\.[^.]*$\', \'\'))))'
    },
    {
      name: 'rom_files_member_stems',
      expression: 'create index "rom_files_member_stems" on "rom_files" using gin (archive_member_stems("archive_members")) ' +
        "where jsonb_typeof(\"archive_members\") = 'array'"
    },
    {
      name: 'rom_files_tracks',
      expression: 'create index "rom_files_tracks" on "rom_files" ("rom_id") where "track_meta" is not null'
    },
    {
      name: 'rom_files_untagged',
      expression: 'create index "rom_files_untagged" on "rom_files" ("id") ' +
        "where \"category\" = 'soundtrack' and \"tags_of\" is distinct from \"last_modified\""
    }
  ],
  properties: {
    id: columns.id(),
    rom: () => p.manyToOne(Rom).deleteRule('cascade').joinColumn('rom_id'),
    file_name: columns.text(),
    /** The folder, relative to the library. */
    file_path: columns.text(),
    file_size_bytes: columns.bytes(),
    last_modified: columns.time(),
    inode: columns.text().default(''),
    is_top_level: columns.flag(true),
    category: columns.text().nullable(),
    crc_hash: columns.text().default('').index(),
    md5_hash: columns.text().default('').index(),
    sha1_hash: columns.text().default('').index(),
    ra_hash: columns.text().nullable(),
    chd_sha1_hash: columns.text().nullable(),
    archive_members: p.json<ArchiveMember[] | null>().nullable(),
    /** Null unless the tags could be read. */
    track_meta: p.json<TrackMeta | null>().nullable(),
    /** `last_modified` of the file when its tags were read, successfully or not. */
    tags_of: columns.time().nullable(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type RomFile = InferEntity<typeof RomFile>

/** A ROM whose rename on disk is in progress. After a crash this row tells the server the new file name. */
export const RomRename = defineEntity({
  name: 'RomRename',
  tableName: 'rom_renames',
  uniques: [{ properties: ['platform_id', 'fs_name'] }],
  properties: {
    rom: () => p.oneToOne(Rom).primary().deleteRule('cascade').joinColumn('rom_id'),
    platform_id: p.integer(),
    fs_name: columns.text(),
    created_at: columns.createdAt()
  }
})

/** The match of a ROM at one provider. */
export const RomMatch = defineEntity({
  name: 'RomMatch',
  tableName: 'rom_matches',
  triggers: [
    countChanges('rom_matches'),
    ...['count_matches', 'keep_games', 'log_matches'].flatMap((run) => statementTriggers('rom_matches', run))
  ],
  primaryKeys: ['rom', 'provider'],
  indexes: [{ properties: ['provider', 'provider_id', 'rom'] }],
  properties: {
    rom: () => p.manyToOne(Rom).primary().deleteRule('cascade').joinColumn('rom_id'),
    provider: columns.text().primary(),
    /** The id as text, whatever its type on the wire; null if the provider only gives ids of other providers. */
    provider_id: columns.text().nullable(),
    /** The whole match from the provider, raw record included. */
    match: p.json<Record<string, unknown>>(),
    /** The `MatchExplanation` of the lookup; null for a match from before explanations were stored. */
    explanation: p.json<Record<string, unknown> | null>().nullable(),
    updated_at: columns.updatedAt()
  }
})
export type RomMatch = InferEntity<typeof RomMatch>

/** The lookups of a ROM that gave no match. A table of its own, because lists read rows of ROMs and never these. */
export const RomMisses = defineEntity({
  name: 'RomMisses',
  tableName: 'rom_misses',
  properties: {
    rom: () => p.oneToOne(Rom).primary().deleteRule('cascade').joinColumn('rom_id'),
    /** A `MatchExplanation` by the key of each provider. */
    explanations: p.json<Record<string, unknown>>()
  }
})

/** What DAT files say about a dump; `misnamed` is a good dump under another name. */
export const DUMP_STATUSES = ['verified', 'misnamed', 'bad', 'unknown'] as const
export type DumpStatus = typeof DUMP_STATUSES[number]

/**
 * The result of the comparison of a ROM with the DAT files of its platform. A table of its own, because a new DAT
 * changes thousands of rows, and rows of ROMs are wide.
 */
export const RomDump = defineEntity({
  name: 'RomDump',
  tableName: 'rom_dumps',
  triggers: [countChanges('rom_dumps'), ...statementTriggers('rom_dumps', 'log_dumps')],
  indexes: [{ properties: ['status', 'rom'] }],
  properties: {
    rom: () => p.oneToOne(Rom).primary().deleteRule('cascade').joinColumn('rom_id'),
    status: columns.text(),
    /** The `updated_at` of the ROM that was compared. A ROM that changed since is compared again. */
    compared_at: columns.time()
  }
})

/**
 * The game that a ROM is, for each provider that knows it. Groups are computed from this table alone. The database
 * writes these rows with each change of matches and ROMs.
 */
export const RomGame = defineEntity({
  name: 'RomGame',
  tableName: 'rom_games',
  properties: {
    rom: () => p.oneToOne(Rom).primary().deleteRule('cascade').joinColumn('rom_id'),
    platform_id: p.integer(),
    /** `<provider>:<id>` of the providers that identify games reliably, most trusted first. */
    ids: columns.texts(),
    /** `<provider>:<id>` of all other providers, ordered by provider key. */
    other_ids: columns.texts(),
    /** True for a demo, a beta or the like. */
    is_early: columns.flag(),
    /** The first region of the file name. */
    region: columns.text().nullable(),
    fs_name_no_ext: columns.text()
  }
})

/** The names of each ROM in which searches find words. The database writes these rows with each change of ROMs. */
export const RomNames = defineEntity({
  name: 'RomNames',
  tableName: 'rom_names',
  indexes: [{ name: 'rom_names_trigrams', expression: 'create index "rom_names_trigrams" on "rom_names" using gin ("searched" gin_trgm_ops)' }],
  properties: {
    rom_id: p.integer().primary().autoincrement(false),
    /**
     * The name and the file name in small letters, each character in its composed form. A space separates them, because
     * no searched word contains one.
     */
    searched: columns.text()
  }
})

/** The values of each ROM by which lists are filtered. The database writes these rows with each change of ROMs. */
export const RomValues = defineEntity({
  name: 'RomValues',
  tableName: 'rom_values',
  indexes: [{ name: 'rom_values_hashes', expression: 'create index "rom_values_hashes" on "rom_values" using gin ("hashes")' }],
  properties: {
    rom_id: p.integer().primary().autoincrement(false),
    /**
     * `hashtextextended('<column>:<value>', 0)` of each value. Rows of hashes take half the blocks of rows of values.
     * Of 100,000 values, two have the same 64 bits once in a billion libraries. PostgreSQL keeps this function as it
     * is, because tables are partitioned by it.
     */
    hashes: p.array().columnType('bigint[]').default([])
  }
})

export const PLAY_STATUSES = ['incomplete', 'finished', 'completed_100', 'retired', 'never_playing'] as const

/**
 * Triggers that count a new version for each user whose marks a statement changed. Each event names its rows
 * differently.
 */
const countMarks = (event: 'insert' | 'update' | 'delete', rows: string) => ({
  name: `note_${event}`,
  timing: 'after' as const,
  events: [event],
  forEach: 'statement' as const,
  expression: `create trigger note_${event} after ${event} on "rom_users" referencing ${rows} for each statement ` +
    'execute function note_marks_change()'
})

/** One user's own marks on a ROM. */
export const RomUser = defineEntity({
  name: 'RomUser',
  tableName: 'rom_users',
  triggers: [
    countMarks('insert', 'new table as new_rows'),
    countMarks('update', 'old table as old_rows new table as new_rows'),
    countMarks('delete', 'old table as old_rows')
  ],
  uniques: [{ properties: ['rom', 'user'] }],
  indexes: [{
    name: 'rom_users_user_id_hidden',
    expression: 'create index "rom_users_user_id_hidden" on "rom_users" ("user_id", "rom_id") where "hidden"'
  }],
  properties: {
    id: columns.id(),
    /** The ROM may be absent from the library. Its marks stay and apply again when the ROM returns. */
    rom: () => p.manyToOne(Rom).createForeignKeyConstraint(false).joinColumn('rom_id'),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').index(),
    last_played: columns.time().nullable(),
    is_main_sibling: columns.flag(),
    backlogged: columns.flag(),
    now_playing: columns.flag(),
    hidden: columns.flag(),
    rating: p.integer().default(0),
    difficulty: p.integer().default(0),
    completion: p.integer().default(0),
    status: p.enum(PLAY_STATUSES).nullable(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type RomUser = InferEntity<typeof RomUser>
