import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ArchiveJob, ArchiveResult, Member } from './protocol.ts'

const THREAD = new URL('./archive-thread.ts', import.meta.url)
/** The JavaScript heap of a thread, in MiB; archives lie outside of it. */
const HEAP_MIB = 256

/** An archive or image that cannot be read or written correctly; the message tells why. */
export class ArchiveRefusedError extends Error {
  override readonly name = 'ArchiveRefusedError'
}

/** Reads and writes archives one at a time, in a separate thread. */
export interface Archives {
  /**
   * Runs a job.
   *
   * @returns the members of the archive
   * @throws ArchiveRefusedError, or the signal's reason; files written so far stay
   */
  run (job: ArchiveJob): Promise<Member[]>
  /** Ends the thread. */
  close (): Promise<void>
}

export function createArchives (signal: AbortSignal): Archives {
  let thread: Worker | null = null

  /** Ends the thread; it writes nothing after this returns. */
  async function close (): Promise<void> {
    const ended = thread
    thread = null
    await ended?.terminate()
  }

  async function runInThread (job: ArchiveJob): Promise<ArchiveResult> {
    signal.throwIfAborted()
    thread ??= new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB } })
    try {
      thread.postMessage(job)
      const [result] = await once(thread, 'message', { signal }) as [ArchiveResult]
      return result
    } catch (err) {
      await close()
      signal.throwIfAborted()
      throw err
    }
  }

  return {
    async run (job) {
      const result = await runInThread(job)
      if ('refused' in result) throw new ArchiveRefusedError(result.refused)
      return result.members
    },
    close
  }
}
