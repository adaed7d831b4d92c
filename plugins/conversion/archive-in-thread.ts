import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ArchiveJob, ArchiveResult, Member } from './protocol.ts'

const THREAD = new URL('./archive-thread.ts', import.meta.url)
/** The JavaScript heap of a thread, in MiB; archives lie outside of it. */
const HEAP_MIB = 256

/** An archive that cannot be read or written as it should; the message says why. */
export class ArchiveRefusedError extends Error {
  override readonly name = 'ArchiveRefusedError'
}

/**
 * Reads or writes an archive, apart from everything else that the process does.
 *
 * @returns what is in it
 * @throws ArchiveRefusedError, or the signal's reason; what it wrote so far stays
 */
export async function workOnArchive (job: ArchiveJob, signal: AbortSignal): Promise<Member[]> {
  signal.throwIfAborted()
  const worker = new Worker(THREAD, { workerData: job, resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB } })
  try {
    const [result] = await once(worker, 'message', { signal }) as [ArchiveResult]
    if ('refused' in result) throw new ArchiveRefusedError(result.refused)
    return result.members
  } catch (err) {
    signal.throwIfAborted()
    throw err
  } finally {
    // Nothing is written once this returns.
    await worker.terminate()
  }
}
