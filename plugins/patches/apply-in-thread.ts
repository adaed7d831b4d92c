import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { ApiError, badRequest } from '../../core/errors.ts'
import type { PatchJob, Patched, PatchResult } from './protocol.ts'

const THREAD = new URL('./thread.ts', import.meta.url)
/** The JavaScript heap of a thread, in MiB; content of files lies outside of it. */
const HEAP_MIB = 128

/**
 * Applies a patch in a separate thread.
 *
 * @throws ApiError BAD_REQUEST for a patch that cannot be applied or takes too long, NO_FREE_SPACE
 */
export async function applyInThread (job: PatchJob, timeoutSeconds: number): Promise<Patched> {
  const worker = new Worker(THREAD, { workerData: job, resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB } })
  try {
    const [result] = await once(worker, 'message', { signal: AbortSignal.timeout(timeoutSeconds * 1000) }) as [PatchResult]
    if ('refused' in result) throw badRequest(result.refused)
    if ('isFull' in result) throw new ApiError('NO_FREE_SPACE')
    return result
  } catch (err) {
    if (!(err instanceof Error) || err.name !== 'AbortError') throw err
    throw badRequest(`Patching took longer than ${timeoutSeconds} s and was cancelled; raise ROM_PATCHER_TIMEOUT`)
  } finally {
    // The caller closes the files, and the thread must not use them after that.
    await worker.terminate()
  }
}
