import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from } from 'pg-copy-streams'

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

type Value = string | number | boolean | null

/** Returns a value in the text format of COPY: https://www.postgresql.org/docs/18/sql-copy.html */
function writeValue (value: Value): string {
  if (value === null) return '\\N'
  return typeof value === 'string' ? value.replace(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? char) : String(value)
}

/** Copies rows into columns of a table. One call is one statement, which has to end within its time limit. */
export async function copyRows (
  client: pg.ClientBase, table: string, columns: readonly string[], rows: readonly (readonly Value[])[]
): Promise<void> {
  const lines = rows.map((row) => `${row.map(writeValue).join('\t')}\n`)
  const target = client.query(from(`copy ${table} (${columns.join(', ')}) from stdin`))
  await pipeline(Readable.from([lines.join('')]), target)
}
