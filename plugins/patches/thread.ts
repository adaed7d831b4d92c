import { parentPort, workerData } from 'node:worker_threads'
import { errorCode } from '../../core/files/fs-error.ts'
import { NoRoomError, Output, PatchError, PatchReader, Source } from './apply/files.ts'
import { applyPatch } from './apply/formats.ts'
import type { PatchJob, PatchResult } from './protocol.ts'

/** Applies a patch with synchronous reads and writes, because every step depends on the one before. */
function run ({ patch, base, output, maxBytes, roomBytes }: PatchJob): PatchResult {
  try {
    return {
      isValid: applyPatch({
        patch: new PatchReader(new Source(patch.fd, patch.size)),
        base: new Source(base.fd, base.size),
        output: new Output(output, maxBytes, roomBytes)
      })
    }
  } catch (err) {
    if (err instanceof PatchError) return { refused: err.message }
    if (err instanceof NoRoomError || ['ENOSPC', 'EDQUOT'].includes(errorCode(err))) return { isFull: true }
    throw err
  }
}

parentPort?.postMessage(run(workerData as PatchJob))
