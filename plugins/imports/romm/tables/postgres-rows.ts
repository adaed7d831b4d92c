import pg from 'pg'
import { collectRows, groupColumns, nameErrors, OPEN_TIMEOUT_MS, openError, stopOn } from './connection.ts'
import { createTableReader, type TableReader } from './table-rows.ts'

/** Returns every value as the text that PostgreSQL prints. */
const AS_TEXT = { getTypeParser: () => (value: unknown) => value }

const COLUMNS = `select c.table_name::text as table_name, c.column_name::text as column_name
  from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
  where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'`

/** Opens a snapshot of a PostgreSQL database in a read-only transaction. */
export async function openPostgres (url: URL, signal: AbortSignal): Promise<TableReader> {
  const connectionString = Object.assign(new URL(url), { protocol: 'postgresql:' }).href
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: OPEN_TIMEOUT_MS,
    application_name: 'svc import',
    types: AS_TEXT
  })
  // The loss of the connection also fails the running or the next query, which reports it.
  client.on('error', () => {})
  const disconnect = () => { client.connection.stream.destroy() }
  const query = (sql: string, values: readonly string[], maxRows: number) =>
    collectRows((onRow, onEnd) => {
      const running = new pg.Query<Record<string, unknown>, string[]>(sql, [...values])
      running.on('row', (row) => { onRow(row, disconnect) })
      running.on('error', onEnd)
      running.on('end', () => { onEnd() })
      client.query(running)
    }, maxRows)
  try {
    await client.connect()
    await client.query('begin isolation level repeatable read read only')
    await client.query("set local time zone 'UTC'; set local datestyle to 'ISO'; set local statement_timeout to 0; " +
      'set local idle_in_transaction_session_timeout to 0')
    const columns = groupColumns(await query(COLUMNS, [], 1_000_000))
    return createTableReader({
      title: 'PostgreSQL',
      columns,
      quote: (name) => `"${name.replaceAll('"', '""')}"`,
      placeholder: (n) => `$${n}`,
      query: stopOn(signal, disconnect, nameErrors(url, query)),
      close: () => client.end()
    })
  } catch (err) {
    await client.end().catch(() => {})
    throw openError(url, err)
  }
}
