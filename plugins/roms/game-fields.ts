import { p } from '@mikro-orm/core'
import { Type } from '@sinclair/typebox'
import type { GameFields } from '@svc/plugin-sdk'
import { columns } from '../../core/database/columns.ts'
import { Nullable } from '../../core/typebox.ts'

/** Where a field goes besides the table `roms`. */
type FieldTable =
  /** The `metadatum` of a ROM in answers. */
  'metadatum' |
  /** The values that lists of ROMs can be narrowed to. */
  'filters' |
  /** What exporters are given. */
  'exports'

/** How one value comes of several: of the first provider that has one; the mean; the largest. */
type Merge = 'first' | 'mean' | 'largest'

interface GameField {
  column: () => unknown
  /** The column's type in SQL. */
  sql: 'text' | 'text[]' | 'int' | 'bigint' | 'real'
  merge: Merge
  /** What is stored where no provider has a value; a provider that says just this has none. */
  none: null | string | readonly string[]
  /** The value in answers. */
  wire: unknown
  in: readonly FieldTable[]
}

const text = {
  column: () => columns.text().nullable(), sql: 'text', merge: 'first', none: null, wire: Nullable(Type.String()), in: []
} as const
const list = {
  column: columns.texts, sql: 'text[]', merge: 'first', none: [], wire: Type.Array(Type.String())
} as const

/**
 * The fields that providers fill and every ROM has a column of. Columns, merge, statements and schemas are made of this
 * table. Those with a rule of their own, such as the name, are in `merge.ts` of the scans.
 */
export const GAME_FIELDS = {
  slug: text,
  youtube_video_id: text,
  alternative_names: { ...list, in: [] },
  genres: { ...list, in: ['metadatum', 'filters', 'exports'] },
  franchises: { ...list, in: ['metadatum', 'filters', 'exports'] },
  collections: { ...list, in: ['metadatum', 'filters'] },
  companies: { ...list, in: ['metadatum', 'filters', 'exports'] },
  developers: { ...list, in: ['exports'] },
  publishers: { ...list, in: ['exports'] },
  game_modes: { ...list, in: ['metadatum', 'filters'] },
  age_ratings: { ...list, in: ['metadatum', 'filters'] },
  /** Years; the strictest of all ratings. Null when it is not rated. */
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
  regions: { ...list, in: ['filters', 'exports'] },
  languages: { ...list, in: ['filters', 'exports'] }
} as const satisfies Record<Exclude<keyof GameFields, 'name' | 'sort_name' | 'summary'>, GameField>

type Fields = typeof GAME_FIELDS
export type GameFieldName = keyof Fields
type NamesIn<Where extends FieldTable> =
  { [Name in GameFieldName]: Where extends Fields[Name]['in'][number] ? Name : never }[GameFieldName]

/** The fields that a person may set, in whose place nothing of a provider goes. */
export const MANUAL_FIELDS = ['genres', 'franchises', 'companies', 'game_modes', 'age_ratings', 'first_release_date',
  'youtube_video_id'] as const satisfies readonly GameFieldName[]
export type ManualField = typeof MANUAL_FIELDS[number]

export const GAME_FIELD_NAMES = Object.keys(GAME_FIELDS) as GameFieldName[]

/** The fields that go to a place, in the order of the table. */
export function gameFieldsIn<Where extends FieldTable> (place: Where): NamesIn<Where>[] {
  return GAME_FIELD_NAMES
    .filter((name): name is NamesIn<Where> => GAME_FIELDS[name].in.some((one: FieldTable) => one === place))
}

/** Some of the fields as an object, by what the table says of each. */
export function mapGameFields<Name extends GameFieldName, Values extends Record<Name, unknown>> (
  names: readonly Name[], toValue: (name: Name) => unknown
): Values {
  return Object.fromEntries(names.map((name) => [name, toValue(name)])) as Values
}

/** The columns of the fields, for the entity. */
export const gameColumns = () => mapGameFields<GameFieldName, { [Name in GameFieldName]: ReturnType<Fields[Name]['column']> }>(
  GAME_FIELD_NAMES, (name) => GAME_FIELDS[name].column())

/** The schemas of the fields that go to a place. */
export const gameSchemas = <Where extends FieldTable>(place: Where) =>
  mapGameFields<NamesIn<Where>, { [Name in NamesIn<Where>]: Fields[Name]['wire'] }>(
    gameFieldsIn(place), (name) => GAME_FIELDS[name].wire)

/** The columns of a table of ROMs as the driver gives numbers. */
export const selectGameFields = (names: readonly GameFieldName[], table = 'r'): string => names.map((name) =>
  GAME_FIELDS[name].sql === 'bigint' ? `${table}.${name}::float8 as ${name}` : `${table}.${name}`).join(', ')
