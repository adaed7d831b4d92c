import type { TypeCastField } from 'mysql2'
import { collectRows, groupColumns, nameErrors, OPEN_TIMEOUT_MS, openError, stopOn } from './connection.ts'
import { createTableReader, type TableReader } from './table-rows.ts'

const COLUMNS = `select c.table_name as table_name, c.column_name as column_name
  from information_schema.columns c join information_schema.tables t
    on t.table_schema = c.table_schema and t.table_name = c.table_name
  where c.table_schema = database() and t.table_type = 'BASE TABLE'`

/** Settings that a snapshot needs. RomM stores times in `timestamp` columns, which are shown in the session's zone. */
const PREPARE = [
  "set time_zone = '+00:00'",
  'set session transaction isolation level repeatable read',
  'set session wait_timeout = 86400',
  'start transaction with consistent snapshot, read only'
]

/** Opens a snapshot of a MariaDB or MySQL database in a read-only transaction. */
export async function openMysql (url: URL, signal: AbortSignal): Promise<TableReader> {
  const { createConnection } = await import('mysql2')
  const connection = createConnection(readOptions(url))
  // The loss of the connection also fails the running or the next query, which reports it.
  connection.on('error', () => {})
  const disconnect = () => { connection.destroy() }
  const query = (sql: string, values: readonly string[], maxRows: number) =>
    collectRows((onRow, onEnd) => {
      const running = connection.query(sql, [...values])
      running.on('result', (row) => { onRow(row, disconnect) })
      running.on('error', onEnd)
      running.on('end', () => { onEnd() })
    }, maxRows)
  try {
    await finish((done) => { connection.connect(done) })
    for (const statement of PREPARE) await finish((done) => { connection.query(statement, done) })
    const [version] = await query('select version() as version', [], 1)
    const columns = groupColumns(await query(COLUMNS, [], 1_000_000))
    return createTableReader({
      title: /mariadb/i.test(version?.version ?? '') ? 'MariaDB' : 'MySQL',
      columns,
      quote: (name) => `\`${name.replaceAll('`', '``')}\``,
      placeholder: () => '?',
      query: stopOn(signal, disconnect, nameErrors(url, query)),
      close: async () => { disconnect() }
    })
  } catch (err) {
    connection.destroy()
    throw openError(url, err)
  }
}

/** Takes only known parts of the address, because the client obeys any option in it. */
function readOptions (url: URL) {
  const socketPath = url.searchParams.get('unix_socket') ?? undefined
  const usesTls = ['1', 'true', 'required'].includes(url.searchParams.get('ssl')?.toLowerCase() ?? '')
  return {
    ...(socketPath === undefined
      ? { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port === '' ? 3306 : url.port) }
      : { socketPath }),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    ...(usesTls ? { ssl: {} } : {}),
    charset: 'utf8mb4',
    connectTimeout: OPEN_TIMEOUT_MS,
    // With this flag a hostile server could request any file of this machine.
    flags: ['-LOCAL_FILES'],
    typeCast: (field: TypeCastField) => field.string('utf8')
  }
}

/** Waits for a call of the client that has no rows. */
function finish (start: (done: (err: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((err) => { if (err === null) resolve(); else reject(err) })
  })
}
