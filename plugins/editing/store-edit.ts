import type { Db } from '../../core/database/db.ts'
import { conflict } from '../../core/errors.ts'
import { type MatchWrite, writeMatches } from '../matching/match-rows.ts'

/** Stores the matches and values of an edited ROM. @throws ApiError CONFLICT if another request edited it meanwhile */
export async function storeEdit (db: Db, write: MatchWrite): Promise<void> {
  const written = await writeMatches(db, [write])
  if (written.length === 0) throw conflict('Another request changed this ROM at the same moment; fetch the current state and try again')
}
