import { errorCode } from '../../../../core/files/fs-error.ts'
import { SourceError } from '../../contract.ts'

export const OPEN_TIMEOUT_MS = 15_000
/** The most characters of one query's values. A server that sends more is broken or hostile. */
const MAX_CHARACTERS = 512 * 1024 * 1024

type TextRow = Readonly<Record<string, string | null>>
type Start = (onRow: (row: object, disconnect: () => void) => void, onEnd: (err?: Error) => void) => void

/** True for a row whose values the client left as the texts that the database sent. */
const isTextRow = (row: object): row is TextRow =>
  Object.values(row).every((value: unknown) => value === null || typeof value === 'string')

/** Collects the rows of one query; disconnects from a server that sends more than asked for. */
export function collectRows (start: Start, maxRows: number): Promise<TextRow[]> {
  return new Promise((resolve, reject) => {
    const rows: TextRow[] = []
    let characters = 0
    start((row, disconnect) => {
      if (!isTextRow(row)) {
        reject(new TypeError('The client of the database parsed a value, and the import reads texts'))
        disconnect()
        return
      }
      rows.push(row)
      for (const value of Object.values(row)) characters += value?.length ?? 0
      if (rows.length <= maxRows && characters <= MAX_CHARACTERS) return
      reject(new SourceError('The database sent more rows than the import asked for. Check that the address names RomM\'s database'))
      disconnect()
    }, (err) => { if (err === undefined) resolve(rows); else reject(err) })
  })
}

/** Returns the query that a cancelled import leaves at once, because a locked table lets it wait without end. */
export function stopOn<Values extends unknown[]> (
  signal: AbortSignal, disconnect: () => void, query: (...values: Values) => Promise<TextRow[]>
): (...values: Values) => Promise<TextRow[]> {
  return async (...values) => {
    signal.throwIfAborted()
    const { promise: stopped, reject } = Promise.withResolvers<never>()
    const stop = () => {
      reject(signal.reason as Error)
      disconnect()
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await Promise.race([query(...values), stopped])
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }
}

/** Groups rows of `table_name` and `column_name` by table. */
export function groupColumns (rows: readonly TextRow[]): Map<string, Set<string>> {
  const tables = new Map<string, Set<string>>()
  for (const row of rows) {
    const { table_name: table, column_name: column } = row
    if (table == null || column == null) continue
    const columns = tables.get(table) ?? new Set<string>()
    tables.set(table, columns.add(column))
  }
  return tables
}

/** Returns the query of an open connection, whose errors name the server and the database. */
export function nameErrors<Values extends unknown[]> (
  url: URL, query: (...values: Values) => Promise<TextRow[]>
): (...values: Values) => Promise<TextRow[]> {
  return async (...values) => {
    try {
      return await query(...values)
    } catch (err) {
      const reason = err instanceof Error ? err.message : String(err)
      throw new SourceError(`RomM's database at ${nameOf(url)} failed: ${reason}. Import again: what was imported stays`, { cause: err })
    }
  }
}

/** Names the server and the database without user and password. */
const nameOf = (url: URL) => `${url.host}${url.pathname}`

export function openError (url: URL, cause: unknown): SourceError {
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : errorCode(cause)
  return new SourceError(`RomM's database at ${nameOf(url)} cannot be read: ${reason}. Check address, user, password and database name`,
    { cause })
}
