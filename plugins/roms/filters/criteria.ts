import { Value } from '@sinclair/typebox/value'
import type { TSchema } from '@sinclair/typebox'
import { ListRomsQuery, withOldNames } from './list-query.ts'

/** A filter as somebody stored it: an object, of which nothing else is known. */
export type Criteria = Readonly<Record<string, unknown>>

/** What a list can be asked for and a stored filter has no part of. */
const NOT_READ = new Set(['smart_collection_id', 'last_played', 'group_by_meta_id', 'updated_after', 'limit', 'offset',
  'with_total', 'with_char_index', 'with_filter_values', 'with_rom_id_index', 'with_files'])
const PROPERTIES = Object.entries<TSchema>(ListRomsQuery.properties).filter(([name]) => !NOT_READ.has(name))

const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

/** A value as the schema has it, from whatever an app stored; undefined when it makes no sense there. */
function readValue (schema: TSchema, given: unknown): unknown {
  const values: unknown[] = Array.isArray(given) ? given : [given]
  if (!values.every(isPlain)) return undefined
  const value = Value.Convert(schema, schema.type === 'array' ? values : given)
  return Value.Check(schema, value) ? value : undefined
}

/**
 * The list that a stored filter asks for. Apps have stored filters under several names and in several shapes; what is
 * none of them narrows nothing.
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
