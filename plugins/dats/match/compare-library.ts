import type { Db } from '../../../core/database/db.ts'
import { compareRoms, deleteUnusedDumps, selectChanged } from './match-rows.ts'

/** ROMs per transaction. Each takes well below a second, because loads of DATs wait for it. */
const BATCH = 1_000

/**
 * Compares ROMs that changed, or whose DATs changed, since their last comparison: all, or about as many as given.
 *
 * @returns the number of compared ROMs
 */
export async function compareLibrary (
  db: Db, signal: AbortSignal, onBatch: (compared: number) => Promise<void>, most = Infinity
): Promise<number> {
  await deleteUnusedDumps(db)
  let compared = 0
  for (let after = 0; ;) {
    signal.throwIfAborted()
    const ids = await selectChanged(db, after, BATCH)
    const last = ids.at(-1)
    if (last === undefined || compared >= most) return compared
    await compareRoms(db, ids)
    after = last
    compared += ids.length
    await onBatch(compared)
  }
}
