import type pg from 'pg'
import { ArchiveError } from '../../../core/archives/limits.ts'
import { ApiError } from '../../../core/errors.ts'
import { errorCode } from '../../../core/files/fs-error.ts'
import { DatError } from '../parse/dat-types.ts'
import { openDat } from '../parse/read-dat.ts'
import { type DatMember, readMembers } from './read-members.ts'
import type { LoadReport } from './report.ts'
import { type DatOrigin, storeDat } from './store-dat.ts'

/** A file with one or more DATs. */
export interface DatSource extends Omit<DatOrigin, 'fileName'> {
  path: string
  /** The name for messages, which tells the format too. */
  name: string
}

/** Classes of SQLSTATE that concern the values of a statement: data, constraints and limits of the database. */
const OF_VALUES = /^(22|23|54)/

/** @returns the reason if an error concerns the file alone */
function explain (err: unknown): string | null {
  if (OF_VALUES.test(errorCode(err))) return `cannot be stored: ${(err as Error).message}`
  if (err instanceof DatError || err instanceof ArchiveError || err instanceof ApiError) return err.message
  if (errorCode(err) !== '' && err instanceof Error && 'syscall' in err) return `cannot be read: ${err.message}`
  return null
}

/** Stores all DATs of a file. A DAT that cannot be read is a problem in the report; the others are stored. */
export async function loadFile (
  pool: pg.Pool, { path, name, ...origin }: DatSource, report: LoadReport, signal: AbortSignal
): Promise<void> {
  async function loadMember ({ name: fileName, chunks }: DatMember): Promise<void> {
    try {
      const stored = await storeDat(pool, await openDat(abortable(chunks, signal)), { ...origin, fileName })
      if ('storedVersion' in stored) report.addOlder(fileName, stored)
      else report.addLoaded(fileName, stored)
    } catch (err) {
      const problem = explain(err)
      if (problem === null || signal.aborted) throw err
      report.addProblem(fileName, problem)
    }
    await report.flush()
  }

  try {
    await readMembers(path, name, signal, loadMember)
  } catch (err) {
    const problem = explain(err)
    if (problem === null || signal.aborted) throw err
    report.addProblem(name, problem)
  }
}

async function * abortable (chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted()
    yield chunk
  }
}
