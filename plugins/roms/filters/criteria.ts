import { Value } from '@sinclair/typebox/value'
import type { TSchema } from '@sinclair/typebox'
import { ListRomsQuery, withOldNames } from './list-query.ts'

/** A filter as a user stored it: an object without a known shape. */
export type Criteria = Readonly<Record<string, unknown>>

/** Parameters of a list that a stored filter ignores. */
const NOT_READ = new Set(['smart_collection_id', 'last_played', 'group_by_meta_id', 'updated_after', 'limit', 'offset',
  'with_total', 'with_char_index', 'with_filter_values', 'with_filter_counts', 'with_rom_id_index', 'with_files'])
const PROPERTIES = Object.entries<TSchema>(ListRomsQuery.properties).filter(([name]) => !NOT_READ.has(name))

const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

/** Converts a stored value to the type of the schema; undefined if the value does not fit. */
function readValue (schema: TSchema, given: unknown): unknown {
  const values: unknown[] = Array.isArray(given) ? given : [given]
  if (!values.every(isPlain)) return undefined
  const value = Value.Convert(schema, schema.type === 'array' ? values : given)
  return Value.Check(schema, value) ? value : undefined
}

/**
 * Returns the list query of a stored filter. Apps have stored filters under several names and in several shapes.
 * Unknown names and shapes do not narrow the list.
 */
export function readCriteria (criteria: Criteria): ListRomsQuery {
  const read = PROPERTIES.flatMap(([name, schema]) => {
    const value = readValue(schema, criteria[name])
    return value === undefined ? [] : [[name, value] as const]
  })
  const query = withOldNames({ ...Value.Create(ListRomsQuery), ...Object.fromEntries(read) })
  const tag = readValue(ListRomsQuery.properties.search_term, criteria.selected_tag)
  return typeof tag === 'string' && tag !== '' ? { ...query, tags: [...query.tags, tag] } : query
}
