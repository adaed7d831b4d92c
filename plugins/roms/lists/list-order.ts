import { TypeGuard } from '@sinclair/typebox'
import { type RawBuilder, sql } from 'kysely'
import type { Condition } from '../../../core/database/conditions.ts'
import type { ListRomsQuery } from '../filters/list-query.ts'
import type { RomProvider, RomProviders } from '../providers.ts'
import { ROM_COLUMNS, type RomColumnIn, romColumnsIn } from '../rom-columns.ts'

export interface Order {
  /** Joins besides ROMs `r` and marks `u`. A join takes a third of the time of a lookup per ROM. */
  joins: RawBuilder<unknown>
  /** The expression after `order by`; always a total order, because the id comes last. */
  by: RawBuilder<unknown>
  /** The character of a row in the index of characters. */
  character: RawBuilder<string>
  /** True if only rows with marks of the caller are listed. */
  needsMarks: boolean
  /** The same order as an index of the table has it; null if none has. */
  indexed: IndexedOrder | null
}

/** An order of an index, which has the ROMs with a value only. All others come after these. */
export interface IndexedOrder {
  by: RawBuilder<unknown>
  /** True for the ROMs with a value; null if all have one. */
  hasValue: Condition | null
}

const COLUMNS = new Map<string, RomColumnIn<'order'>>(romColumnsIn('order').map((name) => [name, name]))
const MARK_COLUMNS = new Set(['last_played', 'rating', 'difficulty', 'completion', 'status', 'backlogged', 'now_playing',
  'hidden', 'is_main_sibling'])

/** Columns with an index. */
const INDEXED_COLUMNS = new Set(['id', 'created_at', 'updated_at', 'fs_size_bytes', 'average_rating', 'first_release_date'])
/** The columns of all indexed orders, of a ROM `r`. */
export const INDEXED_VALUES = sql.join([...INDEXED_COLUMNS].map((name) => sql.ref(`r.${name}`)))
/** Those of them that may be null. */
const NULLABLE_COLUMNS = new Set(['average_rating', 'first_release_date'])

const NAME = sql.ref('r.name_sort_key')
const NAME_CHARACTER = sql<string>`lower(left(${NAME}, 1))`

const METADATA_FIELD = /^([a-z][a-z0-9-]*)_metadata\.([a-z0-9_]+)$/

interface SortValue extends Pick<Order, 'joins' | 'needsMarks'> { value: RawBuilder<unknown>, isText: boolean }

const ofMatch = ({ key }: RomProvider, value: RawBuilder<unknown>): SortValue => ({
  value, isText: false, needsMarks: false, joins: sql`left join rom_matches m on m.rom_id = r.id and m.provider = ${key}`
})

/** Returns a provider's id as a sort value: a number if the provider has integer ids. */
const providerId = (provider: RomProvider): SortValue => ofMatch(provider, provider.id === 'string'
  ? sql`m.provider_id`
  : sql`case when m.provider_id ~ '^[0-9]{1,18}$' then m.provider_id::bigint end`)

/** Returns a number of a provider's raw record, such as the length of a game; null if its schema has no such number. */
function providerNumber (provider: RomProvider, field: string): SortValue | null {
  const schema = provider.metadata?.properties[field]
  if (!TypeGuard.IsInteger(schema) && !TypeGuard.IsNumber(schema)) return null
  const value = sql`m.match->'metadata'->${field}::text`
  return ofMatch(provider, sql`case when jsonb_typeof(${value}) = 'number' then (${value})::numeric end`)
}

/** Returns a sort value of a provider: its id, or a number of its record. */
function providerValue (column: string, { byKey }: RomProviders): SortValue | null {
  const [, key = '', field = ''] = METADATA_FIELD.exec(column) ?? []
  const recorded = byKey.get(key)
  if (recorded !== undefined) return providerNumber(recorded, field)
  const provider = column.endsWith('_id') ? byKey.get(column.slice(0, -3)) : undefined
  return provider === undefined ? null : providerId(provider)
}

export const NO_JOINS = sql``

function valueOf (column: string, providers: RomProviders): SortValue | null {
  const name = COLUMNS.get(column)
  if (name !== undefined) {
    return {
      value: sql.ref(`r.${name}`), isText: ROM_COLUMNS[name].sql === 'text', needsMarks: false, joins: NO_JOINS
    }
  }
  if (MARK_COLUMNS.has(column)) return { value: sql.ref(`u.${column}`), isText: false, needsMarks: true, joins: NO_JOINS }
  return providerValue(column, providers)
}

type Direction = 'asc' | 'desc'

function orderNames (direction: Direction): Order {
  const by = sql`${NAME} ${sql.raw(direction)}, r.id ${sql.raw(direction)}`
  return { joins: NO_JOINS, by, character: NAME_CHARACTER, needsMarks: false, indexed: { by, hasValue: null } }
}

/** The order of a list without parameters. */
export const ORDER_BY_NAME: Order = orderNames('asc')

function orderValues (column: string, found: SortValue, direction: Direction): Order {
  const [isIndexed, isNullable] = [INDEXED_COLUMNS.has(column), NULLABLE_COLUMNS.has(column)]
  const value = sql`${found.value} ${sql.raw(direction)}`
  // A backward index scan puts nulls first, so an index is only usable without nulls.
  const withoutNulls = sql`${value}, ${NAME}, r.id`
  return {
    joins: found.joins,
    by: isIndexed && !isNullable ? withoutNulls : sql`${value} nulls last, ${NAME}, r.id`,
    character: found.isText ? sql<string>`left(${found.value}, 1)` : NAME_CHARACTER,
    needsMarks: found.needsMarks,
    indexed: isIndexed ? { by: withoutNulls, hasValue: isNullable ? sql<boolean>`${found.value} is not null` : null } : null
  }
}

/**
 * Returns the order that a query names; an unknown name sorts by name. Queries that name one order in different ways
 * become equal.
 */
export function readOrder (query: ListRomsQuery, providers: RomProviders): { query: ListRomsQuery, order: Order } {
  const direction = query.order_dir.toLowerCase() === 'desc' ? 'desc' : 'asc'
  const column = query.order_by.toLowerCase()
  const found = valueOf(column, providers)
  return found === null
    ? { query: { ...query, order_by: '', order_dir: direction }, order: orderNames(direction) }
    : { query: { ...query, order_by: column, order_dir: direction }, order: orderValues(column, found, direction) }
}
