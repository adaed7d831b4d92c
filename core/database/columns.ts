import { p } from '@mikro-orm/core'
import { type RawBuilder, sql } from 'kysely'

/** Column types every entity uses alike. Times keep milliseconds, so that what a client sends back compares equal. */
export const columns = {
  id: () => p.integer().primary(),
  bytes: () => p.bigint('number').default(0),
  /** Text without a length limit of the database. */
  text: () => p.text(),
  /** Text that is sorted by: by its bytes, whatever the locale of the database server. */
  sortedText: () => p.text().collation('C'),
  texts: () => p.array().columnType('text[]').default([]),
  time: () => p.datetime(3),
  createdAt: () => p.datetime(3).onCreate(() => new Date()).defaultRaw('now()'),
  updatedAt: () => p.datetime(3).onCreate(() => new Date()).onUpdate(() => new Date()).defaultRaw('now()'),
  flag: (value = false) => p.boolean().default(value)
}

/** Whether a row has all of these values, by column; one that is undefined does not matter. */
export function hasValues (
  alias: string, values: Readonly<Record<string, number | string | undefined>>
): RawBuilder<boolean> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  const same = given.map(([column, value]) => sql<boolean>`${sql.ref(`${alias}.${column}`)} = ${value}`)
  return same.length === 0 ? sql<boolean>`true` : sql.join<boolean>(same, sql` and `)
}

/** A text as it stands in a pattern of `like`, where it means nothing but itself. */
export const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, '\\$&')

/** A column of times in milliseconds since 1970, for queries whose rows no entity reads. */
export const milliseconds = (column: string) => sql<number>`round(date_part('epoch', ${sql.ref(column)}) * 1000)`
