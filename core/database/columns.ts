import { p } from '@mikro-orm/core'
import { type RawBuilder, sql } from 'kysely'
import { databaseDate } from './clock.ts'

/**
 * Column types that all entities share. Times have milliseconds, so that a time that a client sends back compares
 * equal.
 */
export const columns = {
  id: () => p.integer().primary(),
  bytes: () => p.bigint('number').default(0),
  /** A text without a length limit in the database. */
  text: () => p.text(),
  /** A text that lists are sorted by: by its bytes, whatever the locale of the database server. */
  sortedText: () => p.text().collation('C'),
  texts: () => p.array().columnType('text[]').default([]),
  time: () => p.datetime(3),
  createdAt: () => p.datetime(3).onCreate(() => databaseDate()).defaultRaw('now()'),
  updatedAt: () => p.datetime(3).onCreate(() => databaseDate()).onUpdate(() => databaseDate()).defaultRaw('now()'),
  flag: (value = false) => p.boolean().default(value)
}

/** Returns a condition that is true for rows with all of these values by column; undefined values are ignored. */
export function hasValues (
  alias: string, values: Readonly<Record<string, number | string | undefined>>
): RawBuilder<boolean> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  const same = given.map(([column, value]) => sql<boolean>`${sql.ref(`${alias}.${column}`)} = ${value}`)
  return same.length === 0 ? sql<boolean>`true` : sql.join<boolean>(same, sql` and `)
}

/** Escapes a text for a pattern of `like`, where it then matches only itself. */
export const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, '\\$&')

/** Selects a column of times as milliseconds since 1970, for queries that bypass the entities. */
export const selectMilliseconds = (column: string) => sql<number>`round(date_part('epoch', ${sql.ref(column)}) * 1000)`
