import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { badRequest } from '../../core/errors.ts'
import { isPublished, nameTaken, publishFile } from '../../core/files/publish-file.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import type { Chunk, Upload } from './rows.ts'
import type { Staging } from './staging.ts'

/** The received chunks can never become the announced file. */
export class UploadLostError extends Error {
  override readonly name = 'UploadLostError'
}

/**
 * Checks that all chunks of an upload are there.
 *
 * @throws ApiError BAD_REQUEST while chunks are missing · UploadLostError if their sizes do not add up to the whole
 */
export function checkComplete ({ total_chunks: count, total_size: total }: Upload, chunks: readonly Chunk[]): void {
  const receivedNumbers = new Set(chunks.map(({ number }) => number))
  const missing = Array.from(
    { length: count }, (_none, number) => number
  ).filter((number) => !receivedNumbers.has(number))
  if (missing.length > 0) throw badRequest(`Missing chunks: [${missing.join(', ')}]`)
  const size = chunks.reduce((sum, chunk) => sum + chunk.size, 0)
  if (size === total) return
  throw new UploadLostError(`The chunks together have ${size} bytes instead of ${total}; start the upload again`)
}

/** True if an earlier completion published the file but did not end. */
async function isDone (
  { whole: uploadPath, joined }: Staging, target: string, { total_size: size }: Upload, chunks: readonly Chunk[]
): Promise<boolean> {
  if (await isPublished([uploadPath, joined], target)) return true
  // On a disk without hard links, the earlier completion moved the file.
  const isMoved = chunks.some(({ has_own_file: hasOwnFile }) => !hasOwnFile) && !await isPresent(uploadPath)
  return isMoved && await isPresent(target) && (await stat(target)).size === size
}

/**
 * Assembles the chunks of an upload to a file of the library.
 *
 * @param received the chunks, and true if a process still writes into the file of the upload
 * @throws ApiError CONFLICT if the name is taken
 */
export async function assembleUpload (
  staging: Staging, target: string, upload: Upload,
  { chunks, hasWrites }: { chunks: readonly Chunk[], hasWrites: boolean }
): Promise<void> {
  if (await isDone(staging, target, upload, chunks)) return
  if (await isPresent(target)) throw nameTaken(basename(target))
  await publishFile(await staging.assemble(upload, chunks, hasWrites), target)
}
