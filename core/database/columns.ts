import { p } from '@mikro-orm/core'
import { sql } from 'kysely'

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

/** A column of times in milliseconds since 1970, for queries whose rows no entity reads. */
export const milliseconds = (column: string) => sql<number>`round(date_part('epoch', ${sql.ref(column)}) * 1000)`
