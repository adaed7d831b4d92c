import type { LibraryRoot } from './roots.ts'
import { LibraryUnreadableError, readLibraryDirectory, reasonOf } from './directory.ts'
import { NEVER, TimeLimitError, limitTime } from '../../core/concurrency/limit-time.ts'

/** The current state of a library. */
export interface LibraryState {
  root: LibraryRoot
  /** The reason why the library cannot be read, without its path; null if it can. */
  problem: string | null
}

export const EMPTY_ROOT = 'its folder is empty, which looks as if its disk is not mounted'

/** A lost network share answers after minutes, or never. */
const CHECK_TIMEOUT_MS = 3_000

/** Running checks by folder. While a disk does not answer, all callers wait for the same check. */
const checks = new Map<string, Promise<string | null>>()

async function checkRootFolder (dir: string): Promise<string | null> {
  try {
    return (await readLibraryDirectory(dir)).length > 0 ? null : EMPTY_ROOT
  } catch (err) {
    if (!(err instanceof LibraryUnreadableError)) throw err
    return `its folder cannot be read: ${reasonOf(err.cause)}`
  }
}

function checkOnce (dir: string): Promise<string | null> {
  const running = checks.get(dir)
  if (running !== undefined) return running
  const found = checkRootFolder(dir).finally(() => { checks.delete(dir) })
  checks.set(dir, found)
  return found
}

/**
 * Returns the reason why a library that had content cannot be read. Its folder does not exist, cannot be entered, does
 * not answer, or is empty. An empty folder is typical of a disk that is not mounted.
 */
export async function findRootProblem (dir: string): Promise<string | null> {
  try {
    return await limitTime('No answer within', CHECK_TIMEOUT_MS, NEVER, () => checkOnce(dir))
  } catch (err) {
    if (!(err instanceof TimeLimitError)) throw err
    return 'its disk does not answer'
  }
}
