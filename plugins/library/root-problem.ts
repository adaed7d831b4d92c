import type { LibraryRoot } from './roots.ts'
import { LibraryUnreadableError, readLibraryDirectory, reasonOf } from './directory.ts'
import { NEVER, TimeLimitError, limitTime } from '../../core/loader/limit-time.ts'

/** A library as it can be reached now. */
export interface LibraryState {
  root: LibraryRoot
  /** Why nothing of it can be read, in words without its place; null when all is well. */
  problem: string | null
}

export const EMPTY_ROOT = 'its folder is empty, as if its disk was not mounted'

/** A share that went away answers after minutes, or never. */
const LOOK_MS = 3_000

/** Looks under way: whoever asks while a disk does not answer waits for the same one. */
const looking = new Map<string, Promise<string | null>>()

async function look (dir: string): Promise<string | null> {
  try {
    return (await readLibraryDirectory(dir)).length > 0 ? null : EMPTY_ROOT
  } catch (err) {
    if (!(err instanceof LibraryUnreadableError)) throw err
    return `its folder cannot be read: ${reasonOf(err.cause)}`
  }
}

function lookOnce (dir: string): Promise<string | null> {
  const known = looking.get(dir)
  if (known !== undefined) return known
  const found = look(dir).finally(() => { looking.delete(dir) })
  looking.set(dir, found)
  return found
}

/**
 * Why nothing of a library can be read that held something: its folder is not there, cannot be entered, does not
 * answer, or holds nothing, which is what a disk that is not mounted leaves.
 */
export async function findRootProblem (dir: string): Promise<string | null> {
  try {
    return await limitTime('No answer within', LOOK_MS, NEVER, () => lookOnce(dir))
  } catch (err) {
    if (!(err instanceof TimeLimitError)) throw err
    return 'its disk does not answer'
  }
}
