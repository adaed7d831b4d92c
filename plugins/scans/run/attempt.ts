import { PathRefusedError } from '../../../core/files/safe-path.ts'
import { LibraryUnreadableError } from '../../library/directory.ts'
import type { ScanProblem } from '../../matching/scan-types.ts'
import type { PartProgress } from '../progress/part-progress.ts'

/**
 * Runs work on one folder, whose problems do not stop the scan of other folders. @returns true if no problem occurred
 */
export async function attempt (
  signal: AbortSignal, progress: Pick<PartProgress, 'problem'>, folder: Omit<ScanProblem, 'reason'>,
  work: () => Promise<void>
): Promise<boolean> {
  try {
    await work()
    return true
  } catch (err) {
    signal.throwIfAborted()
    if (!(err instanceof LibraryUnreadableError) && !(err instanceof PathRefusedError)) throw err
    progress.problem({ ...folder, reason: err.message })
    return false
  }
}
