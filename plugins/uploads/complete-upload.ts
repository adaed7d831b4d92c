import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { badRequest } from '../../core/errors.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import type { Chunk, Upload } from './rows.ts'
import { isPublished, nameTaken, publishFile } from './publish-file.ts'
import type { Staging } from './staging.ts'

/** What came will never be what was announced. */
export class UploadLostError extends Error {
  override readonly name = 'UploadLostError'
}

/**
 * Looks at whether all of an upload is there.
 *
 * @throws ApiError BAD_REQUEST while chunks are missing · UploadLostError when they have another size than all of it
 */
export function checkWhole ({ total_chunks: count, total_size: total }: Upload, chunks: readonly Chunk[]): void {
  const there = new Set(chunks.map(({ number }) => number))
  const missing = Array.from({ length: count }, (_none, number) => number).filter((number) => !there.has(number))
  if (missing.length > 0) throw badRequest(`Missing chunks: [${missing.join(', ')}]`)
  const size = chunks.reduce((sum, chunk) => sum + chunk.size, 0)
  if (size === total) return
  throw new UploadLostError(`The chunks have ${size} bytes together, not ${total}; start the upload again`)
}

/** Whether an earlier completion gave the file its name, and came to no end after that. */
async function isDone (
  { whole, joined }: Staging, target: string, { total_size: size }: Upload, chunks: readonly Chunk[]
): Promise<boolean> {
  if (await isPublished([whole, joined], target)) return true
  // Where the disk has no hard links, it was moved.
  const isMoved = chunks.some(({ is_apart: isApart }) => !isApart) && !await isPresent(whole)
  return isMoved && await isPresent(target) && (await stat(target)).size === size
}

/** Puts the chunks of an upload together as a file of the library. @throws ApiError CONFLICT when the name is taken */
export async function assembleUpload (
  staging: Staging, target: string, upload: Upload, chunks: readonly Chunk[]
): Promise<void> {
  if (await isDone(staging, target, upload, chunks)) return
  if (await isPresent(target)) throw nameTaken(basename(target))
  await publishFile(await staging.assemble(upload, chunks), target)
}
