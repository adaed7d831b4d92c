import { type RawBuilder, sql } from 'kysely'

/** A condition of a statement. */
export type Condition = RawBuilder<boolean>

export const NOTHING: Condition = sql<boolean>`false`

export function allOf (conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

export function anyOf (conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? NOTHING : sql<boolean>`(${sql.join(conditions, sql` or `)})`
}

export const not = (condition: Condition): Condition => sql<boolean>`not coalesce(${condition}, false)`
