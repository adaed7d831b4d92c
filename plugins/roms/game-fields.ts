import { p } from '@mikro-orm/core'
import { Type } from '@sinclair/typebox'
import type { GameFields } from '@svc/plugin-sdk'
import { columns } from '../../core/database/columns.ts'
import { Nullable } from '../../core/typebox.ts'

/** A set of fields or columns that contains a field; each field is a column of `roms`. */
type FieldTable =
  /** The `metadatum` of a ROM in responses. */
  'metadatum' |
  /** The filter values of ROM lists. */
  'filters' |
  /** The input of exporters. */
  'exports' |
  /** The ROM itself in responses. */
  'view' |
  /** The tags of file names. */
  'tags' |
  /** The columns that a lookup reads. */
  'lookup'

/** The rule that merges several values: the first that a provider has; the mean; the largest. */
type Merge = 'first' | 'mean' | 'largest'

interface GameField {
  column: () => unknown
  /** The column's type in SQL. */
  sql: 'text' | 'text[]' | 'int' | 'bigint' | 'real'
  merge: Merge
  /** The stored value if no provider has one. A provider with this value counts as having none. */
  none: null | string | readonly string[]
  /** The schema of the value in responses. */
  wire: unknown
  in: readonly FieldTable[]
}

const text = {
  column: () => columns.text().nullable(), sql: 'text', merge: 'first', none: null, wire: Nullable(Type.String())
} as const
const list = {
  column: columns.texts, sql: 'text[]', merge: 'first', none: [], wire: Type.Array(Type.String())
} as const

/**
 * The fields that providers fill and that are columns of every ROM. Columns, merge, statements and schemas derive from
 * this table. Columns with special rules, such as the name, are in `rom-columns.ts`.
 */
export const GAME_FIELDS = {
  slug: { ...text, in: ['view'] },
  youtube_video_id: { ...text, in: ['view'] },
  alternative_names: { ...list, in: [] },
  genres: { ...list, in: ['metadatum', 'filters', 'exports'] },
  franchises: { ...list, in: ['metadatum', 'filters', 'exports'] },
  collections: { ...list, in: ['metadatum', 'filters'] },
  companies: { ...list, in: ['metadatum', 'filters', 'exports'] },
  developers: { ...list, in: ['exports'] },
  publishers: { ...list, in: ['exports'] },
  game_modes: { ...list, in: ['metadatum', 'filters'] },
  age_ratings: { ...list, in: ['metadatum', 'filters'] },
  /** Age in years; the strictest of all ratings. Null if the game is not rated. */
  min_age: {
    column: () => p.integer().nullable(), sql: 'int', merge: 'largest', none: null, wire: Nullable(Type.Integer()), in: []
  },
  player_count: {
    column: () => columns.text().default('1'), sql: 'text', merge: 'first', none: '1', wire: Type.String(), in: ['metadatum']
  },
  first_release_date: {
    column: () => p.bigint('number').nullable(),
    sql: 'bigint',
    merge: 'first',
    none: null,
    wire: Nullable(Type.Integer({ description: 'Milliseconds since 1970' })),
    in: ['metadatum', 'exports']
  },
  average_rating: {
    column: () => p.float().nullable(),
    sql: 'real',
    merge: 'mean',
    none: null,
    wire: Nullable(Type.Number({ description: '0 to 100' })),
    in: ['metadatum', 'exports']
  },
  regions: { ...list, in: ['filters', 'exports', 'view', 'tags', 'lookup'] },
  languages: { ...list, in: ['filters', 'exports', 'view', 'tags', 'lookup'] }
} as const satisfies Record<Exclude<keyof GameFields, 'name' | 'sort_name' | 'summary'>, GameField>

type Fields = typeof GAME_FIELDS
export type GameFieldName = keyof Fields
type NamesIn<Where extends FieldTable> =
  { [Name in GameFieldName]: Where extends Fields[Name]['in'][number] ? Name : never }[GameFieldName]

/** The fields that a person may set. Scans do not replace these values with values of providers. */
export const MANUAL_FIELDS = ['genres', 'franchises', 'companies', 'game_modes', 'age_ratings', 'first_release_date',
  'youtube_video_id'] as const satisfies readonly GameFieldName[]
export type ManualField = typeof MANUAL_FIELDS[number]

export const GAME_FIELD_NAMES = Object.keys(GAME_FIELDS) as GameFieldName[]

/** Returns the fields of a set, in the order of the table. */
export function gameFieldsIn<Where extends FieldTable> (set: Where): NamesIn<Where>[] {
  return GAME_FIELD_NAMES
    .filter((name): name is NamesIn<Where> => GAME_FIELDS[name].in.some((one: FieldTable) => one === set))
}

/** Returns an object with a value for each of the given fields. */
export function mapGameFields<Name extends GameFieldName, Values extends Record<Name, unknown>> (
  names: readonly Name[], toValue: (name: Name) => unknown
): Values {
  return Object.fromEntries(names.map((name) => [name, toValue(name)])) as Values
}

/** Returns the schemas of the fields of a set. */
export const gameSchemas = <Where extends FieldTable>(set: Where) =>
  mapGameFields<NamesIn<Where>, { [Name in NamesIn<Where>]: Fields[Name]['wire'] }>(
    gameFieldsIn(set), (name) => GAME_FIELDS[name].wire)
