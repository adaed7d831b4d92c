import type { FileHandle } from 'node:fs/promises'
import { requireFreeSpace } from './free-space.ts'

/** Bytes written between two checks of the free space. */
const FREE_CHECK_BYTES = 64 * 1024 ** 2

export interface UploadLimits {
  /** The folder whose disk the file is written to. */
  folder: string
  /** The most bytes; 0 means no limit. */
  maxBytes: number
  /** Creates the error for larger content. */
  tooLarge: () => Error
  /** Reserves room for content of this size. @returns the reserved size @throws the error for content without room */
  reserve?: (bytes: number) => Promise<number>
}

/**
 * Writes an upload to a new file and flushes it to the disk.
 *
 * @param see gets every piece before it is written
 * @returns the number of bytes
 * @throws ApiError NO_FREE_SPACE
 */
export async function writeUpload (
  handle: FileHandle, content: AsyncIterable<Buffer>, { folder, maxBytes, tooLarge, reserve }: UploadLimits,
  see: (chunk: Buffer) => void
): Promise<number> {
  let size = 0
  let checked = 0
  let reserved = 0
  // Not every client announces a length.
  await requireFreeSpace(folder, 0)
  for await (const chunk of content) {
    size += chunk.length
    if (maxBytes > 0 && size > maxBytes) throw tooLarge()
    if (reserve !== undefined && size > reserved) reserved = await reserve(size)
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
