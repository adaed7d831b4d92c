import { type RawBuilder, sql } from 'kysely'
import { invalid } from '../../core/errors.ts'

/**
 * True if the column is strictly later than a time from a client.
 *
 * @throws ApiError INVALID for an invalid time, such as a leap second.
 */
export function isChangedAfter (column: string, text: string): RawBuilder<boolean> {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw invalid(['query', 'updated_after'], 'must be a time such as 2026-08-01T12:00:00Z', text)
  return sql<boolean>`${sql.ref(column)} > to_timestamp(${time}::float8 / 1000)`
}
