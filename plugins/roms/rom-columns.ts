import type { GameFields, MediaKind } from '@svc/plugin-sdk'
import { p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { GAME_FIELDS, GAME_FIELD_NAMES, type GameFieldName, type ManualField, mapGameFields } from './game-fields.ts'

/**
 * Values of a game that a person set, which replace those of providers. Absent and null keep the values of providers.
 */
export type ManualMetadata = { [Name in ManualField]?: GameFields[Name] | null | undefined }

/** One piece of media: the URL it came from, and its path in the resources folder once downloaded. */
export interface StoredMedia { url: string, path: string | null }

/** A set of columns that a statement or an object contains. */
type ColumnSet =
  /** The facts of an entry on disk. A scan writes these columns when it reads the files of a ROM. */
  'entry' |
  /** The size and hashes, which a scan also writes if another process inserted the row meanwhile. */
  'content' |
  /** The tags of the file name. A scan writes these columns of new ROMs, and of ROMs that it rebuilds from scratch. */
  'tags' |
  /** The columns that a merge writes. */
  'merge' |
  /** The columns that a lookup and a merge read. */
  'lookup' |
  /** The values that may come from a provider, and the values that a person set instead. */
  'sourced' |
  /** The columns of `RomRow`, from which responses are built. */
  'row' |
  /** The columns that responses contain unchanged. */
  'view' |
  /** The columns by which clients may sort lists. */
  'order'

type SqlType = 'int' | 'bigint' | 'real' | 'text' | 'text[]' | 'boolean' | 'jsonb' | 'timestamptz'

interface RomColumn {
  /** The property of the entity; null for the platform, which the entity has as a reference. */
  column: (() => unknown) | null
  /** The column's type in SQL. */
  sql: SqlType
  in: readonly ColumnSet[]
  /** True if a person may set the column, and scans then keep it. */
  isLockable?: true
  /** The column with the URLs of the files whose paths this column contains. */
  fileOf?: 'url_cover' | 'url_screenshots' | 'url_manual'
}

const text = { column: () => columns.text(), sql: 'text' } as const
const textOrNull = { column: () => columns.text().nullable(), sql: 'text' } as const
const texts = { column: columns.texts, sql: 'text[]' } as const
const flag = { column: () => columns.flag(), sql: 'boolean' } as const

const NAME_OF_ENTRY = { ...text, in: ['entry', 'lookup', 'row', 'view', 'order'] } as const
const KIND_OF_ENTRY = { ...flag, in: ['entry', 'row', 'view', 'order'] } as const
const HASH_SETS = ['entry', 'content', 'lookup', 'row', 'view', 'order'] as const
const HASH = { column: () => columns.text().default('').index(), sql: 'text', in: HASH_SETS } as const
const COVER_PATH = { ...textOrNull, in: ['lookup', 'row', 'order'], fileOf: 'url_cover' } as const

/** The sets that contain every field of `GAME_FIELDS`; that table names further ones. */
const GAME_SETS = ['merge', 'sourced', 'row', 'order'] as const

type GameColumns = {
  [Name in GameFieldName]: Pick<typeof GAME_FIELDS[Name], 'column' | 'sql'> & {
    in: readonly (typeof GAME_SETS[number] | Extract<typeof GAME_FIELDS[Name]['in'][number], ColumnSet>)[]
  }
}

const gameColumns = () => mapGameFields<GameFieldName, GameColumns>(GAME_FIELD_NAMES, (name) =>
  ({ ...GAME_FIELDS[name], in: [...GAME_SETS, ...GAME_FIELDS[name].in] }))

/**
 * All columns of the table `roms`. The entity, the row types, and the statements that insert, update and select ROMs
 * derive from this table; a test compares it with the database.
 */
export const ROM_COLUMNS = {
  id: { column: columns.id, sql: 'int', in: ['lookup', 'row', 'view', 'order'] },
  platform_id: { column: null, sql: 'int', in: ['row', 'view', 'order'] },
  library_id: { column: () => p.integer().default(1), sql: 'int', in: ['lookup', 'row', 'view'] },
  fs_name: { ...NAME_OF_ENTRY, column: columns.sortedText },
  fs_path: NAME_OF_ENTRY,
  fs_extension: { ...NAME_OF_ENTRY, column: () => columns.text().default('') },
  fs_name_no_tags: NAME_OF_ENTRY,
  fs_name_no_ext: NAME_OF_ENTRY,
  fs_size_bytes: { column: columns.bytes, sql: 'bigint', in: ['entry', 'content', 'row', 'view', 'order'] },
  is_folder: { ...flag, in: ['entry', 'lookup', 'row'] },
  has_nested_single_file: KIND_OF_ENTRY,
  has_multiple_files: KIND_OF_ENTRY,
  has_soundtrack: KIND_OF_ENTRY,
  name: { ...textOrNull, in: ['merge', 'lookup', 'sourced', 'row', 'view'], isLockable: true },
  name_sort_key: {
    column: () => columns.sortedText().default(''), sql: 'text', in: ['merge', 'lookup', 'row', 'view'], isLockable: true
  },
  summary: { ...textOrNull, in: ['merge', 'lookup', 'sourced', 'row', 'view', 'order'], isLockable: true },
  ...gameColumns(),
  revision: { ...textOrNull, in: ['tags', 'lookup', 'row', 'view', 'order'] },
  version: { ...textOrNull, in: ['tags', 'order'] },
  tags: { ...texts, in: ['tags', 'lookup', 'row', 'view', 'order'] },
  crc_hash: HASH,
  md5_hash: HASH,
  sha1_hash: HASH,
  ra_hash: { ...textOrNull, in: HASH_SETS },
  url_cover: { ...textOrNull, in: ['merge', 'lookup', 'sourced', 'row', 'order'], isLockable: true },
  path_cover_small: COVER_PATH,
  path_cover_large: COVER_PATH,
  url_screenshots: { ...texts, in: ['merge', 'lookup', 'sourced'] },
  path_screenshots: { ...texts, in: ['lookup', 'row'], fileOf: 'url_screenshots' },
  url_manual: { ...textOrNull, in: ['merge', 'lookup', 'sourced', 'row', 'order'], isLockable: true },
  path_manual: { ...textOrNull, in: ['lookup', 'row', 'order'], fileOf: 'url_manual' },
  media: {
    column: () => p.json<Partial<Record<MediaKind, StoredMedia>>>().defaultRaw("'{}'::jsonb"),
    sql: 'jsonb',
    in: ['merge', 'lookup', 'sourced', 'row']
  },
  /** Names of the files in the ROM's folder of badges. */
  badges: { ...texts, in: ['lookup', 'row'] },
  is_identified: { ...flag, in: ['merge', 'row', 'view', 'order'] },
  /** Fields that a person set and scans keep: columns of this table, `<provider>_id`, `raw_<provider>_metadata`. */
  own_fields: { ...texts, in: ['lookup', 'sourced'] },
  /** Values that precede those of all providers. */
  manual_metadata: {
    column: () => p.json<ManualMetadata | null>().nullable(), sql: 'jsonb', in: ['lookup', 'sourced', 'row']
  },
  /** Counts changes by people. A scan that began before such a change does not overwrite it. */
  edits: { column: () => p.integer().default(0), sql: 'int', in: ['lookup'] },
  missing_from_fs: { ...flag, in: ['row', 'view', 'order'] },
  created_at: { column: columns.createdAt, sql: 'timestamptz', in: ['row', 'order'] },
  updated_at: { column: columns.updatedAt, sql: 'timestamptz', in: ['row', 'order'] }
} as const satisfies Record<string, RomColumn>

type Columns = typeof ROM_COLUMNS
export type RomColumnName = keyof Columns
export type RomColumnIn<Set extends ColumnSet> =
  { [Name in RomColumnName]: Set extends Columns[Name]['in'][number] ? Name : never }[RomColumnName]
export type LockableColumn =
  { [Name in RomColumnName]: Columns[Name] extends { isLockable: true } ? Name : never }[RomColumnName]

const ENTRIES = Object.entries(ROM_COLUMNS) as [RomColumnName, RomColumn][]

/** Returns the columns of a set, in the order of the table. */
export const romColumnsIn = <Set extends ColumnSet>(set: Set): RomColumnIn<Set>[] =>
  ENTRIES.filter(([, column]) => column.in.includes(set)).map(([name]) => name as RomColumnIn<Set>)

/** The columns that a person may set and scans then keep. A stored picture is locked together with its URL. */
export const LOCKABLE_COLUMNS =
  ENTRIES.filter(([, { isLockable }]) => isLockable === true).map(([name]) => name as LockableColumn)

/** The columns with paths of artwork, and the columns with the URLs of these files. */
export const ARTWORK_PATHS = ENTRIES.flatMap(([name, { sql, fileOf }]) =>
  fileOf === undefined ? [] : [{ name, isList: sql === 'text[]', url: fileOf }])

/** Returns names of columns with their types, for the record set of a statement. */
export const declareRomColumns = (names: readonly RomColumnName[]): string =>
  names.map((name) => `${name} ${ROM_COLUMNS[name].sql}`).join(', ')

type PropertyName = Exclude<RomColumnName, 'platform_id'>

/** Returns the properties of the entity. */
export const romProperties = () => Object.fromEntries(ENTRIES.flatMap(([name, { column }]) =>
  column === null ? [] : [[name, column()]])) as { [Name in PropertyName]: ReturnType<Columns[Name]['column']> }

/** Selects columns of ROMs `r`: bigint as a number for the driver, times as milliseconds since 1970. */
export const selectRomColumns = (names: readonly RomColumnName[]): string => names.map((name) => {
  const { sql } = ROM_COLUMNS[name]
  if (sql === 'bigint') return `r.${name}::float8 as ${name}`
  if (sql === 'timestamptz') return `round(date_part('epoch', r.${name}) * 1000) as ${name}`
  return `r.${name}`
}).join(', ')
