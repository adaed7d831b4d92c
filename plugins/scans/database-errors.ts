import pg from 'pg'
import { isDiskFull, isQueryCanceled, isUnavailable } from '../../core/database/errors.ts'

/** The database refuses every write for now, so that the scan cannot continue. */
export class DatabaseUnableError extends Error {
  override readonly name = 'DatabaseUnableError'
}

/** Returns a DatabaseUnableError with a readable message if the database cannot write at all, else the given error. */
export function explainWriteError (err: unknown): unknown {
  if (!isUnavailable(err) && !isQueryCanceled(err)) return err
  const { message } = err as Error
  const sentence = isDiskFull(err)
    ? `The disk of the database is full (${message}). Free space there, then scan again`
    : `The database cannot continue (${message}). See its log, then scan again`
  return new DatabaseUnableError(`${sentence}; results that are already stored stay.`, { cause: err })
}

/** Classes of SQLSTATE that blame the written row: data, constraints, and limits such as the size of an index row. */
const BAD_DATA = ['22', '23', '54']

/**
 * Writes rows together. When the database refuses one of them, writes them in halves, so that only the bad row is lost.
 *
 * @returns the written rows
 */
export async function writeInHalves<Row, Written> (
  rows: readonly Row[], write: (rows: readonly Row[]) => Promise<Written[]>, refuse: (row: Row, err: Error) => void
): Promise<Written[]> {
  const [first] = rows
  if (first === undefined) return []
  try {
    return await write(rows)
  } catch (err) {
    if (!(err instanceof pg.DatabaseError) || !BAD_DATA.includes(err.code?.slice(0, 2) ?? '')) throw err
    if (rows.length === 1) {
      refuse(first, err)
      return []
    }
    const middle = Math.ceil(rows.length / 2)
    return [
      ...await writeInHalves(rows.slice(0, middle), write, refuse),
      ...await writeInHalves(rows.slice(middle), write, refuse)
    ]
  }
}
