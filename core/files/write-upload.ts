import type { FileHandle } from 'node:fs/promises'
import { requireFreeSpace } from './free-space.ts'

/** How much is written until the free space is looked at again. */
const FREE_CHECK_BYTES = 64 * 1024 ** 2

export interface UploadLimits {
  /** The folder on whose disk it is written. */
  folder: string
  /** 0 means any. */
  maxBytes: number
  /** What is thrown beyond that. */
  tooLarge: () => Error
}

/**
 * Writes what arrives to a new file, to the disk itself.
 *
 * @param see is shown every piece before it is written
 * @returns how many bytes there were
 * @throws ApiError NO_FREE_SPACE
 */
export async function writeUpload (
  handle: FileHandle, content: AsyncIterable<Buffer>, { folder, maxBytes, tooLarge }: UploadLimits,
  see: (chunk: Buffer) => void
): Promise<number> {
  let size = 0
  let checked = 0
  // Not everybody announces a length.
  await requireFreeSpace(folder, 0)
  for await (const chunk of content) {
    size += chunk.length
    if (maxBytes > 0 && size > maxBytes) throw tooLarge()
    if (size - checked >= FREE_CHECK_BYTES) {
      await requireFreeSpace(folder, chunk.length)
      checked = size
    }
    see(chunk)
    await handle.writeFile(chunk)
  }
  await handle.sync()
  return size
}
