import { parentPort, workerData } from 'node:worker_threads'
import { errorCode } from '../../core/files/fs-error.ts'
import { NoRoomError, Output, PatchError, PatchReader, Source } from './apply/files.ts'
import { applyPatch } from './apply/formats.ts'
import type { PatchJob, PatchResult } from './protocol.ts'
import { findOpener, unpackBase } from './unpack-base.ts'

interface NamedBase { name: string, base: Source }

/** Opens the base, from its archive if it is in one. */
async function openBase ({ base, baseName, unpacked, maxBytes, roomBytes }: PatchJob): Promise<NamedBase> {
  const stored = new Source(base.fd, base.size)
  const open = findOpener(baseName)
  if (open === null || unpacked === null) return { name: baseName, base: stored }
  const output = new Output(unpacked, maxBytes, roomBytes)
  const name = await unpackBase(open, stored, output)
  return { name, base: new Source(unpacked, output.length) }
}

/** Applies a patch with synchronous reads and writes, because every step depends on the one before. */
async function run (job: PatchJob): Promise<PatchResult> {
  const { patch, unpacked, output, maxBytes, roomBytes } = job
  try {
    const { name, base } = await openBase(job)
    const room = unpacked === null ? roomBytes : roomBytes - base.size
    const isValid = applyPatch({
      patch: new PatchReader(new Source(patch.fd, patch.size)), base, output: new Output(output, maxBytes, room)
    })
    return { isValid, baseName: name }
  } catch (err) {
    if (err instanceof PatchError) return { refused: err.message }
    if (err instanceof NoRoomError || ['ENOSPC', 'EDQUOT'].includes(errorCode(err))) return { isFull: true }
    throw err
  }
}

parentPort?.postMessage(await run(workerData as PatchJob))
