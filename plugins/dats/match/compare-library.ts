import type { Db } from '../../../core/database/db.ts'
import { compareRoms, deleteUnusedDumps, selectChanged } from './match-rows.ts'

/** ROMs per transaction. Each takes well below a second, because loads of DATs wait for it. */
const BATCH = 1_000

/**
 * Compares all ROMs that changed, or whose DATs changed, since their last comparison.
 *
 * @returns the number of compared ROMs
 */
export async function compareLibrary (
  db: Db, signal: AbortSignal, onBatch: (compared: number) => Promise<void>
): Promise<number> {
  await deleteUnusedDumps(db)
  let compared = 0
  for (;;) {
    signal.throwIfAborted()
    const ids = await selectChanged(db, BATCH)
    if (ids.length === 0) return compared
    await compareRoms(db, ids)
    compared += ids.length
    await onBatch(compared)
  }
}
