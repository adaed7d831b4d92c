import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { createFileStream } from '../../resources/file-stream.ts'

const ZIP_MARK = 'PK\x03\x04'

async function readMark (handle: FileHandle): Promise<string> {
  const { buffer } = await handle.read(Buffer.alloc(ZIP_MARK.length), 0, ZIP_MARK.length, 0)
  return buffer.toString('latin1')
}

/**
 * Returns the MD5 of the bytes of an asset, and closes its file.
 *
 * @param contentHash the stored hash, which is that of the bytes unless the file is a zip
 */
export async function readMd5 (handle: FileHandle, size: number, contentHash: string | null): Promise<string> {
  try {
    if (contentHash !== null && await readMark(handle) !== ZIP_MARK) return contentHash
    const md5 = createHash('md5')
    for await (const chunk of createFileStream(handle, 0, size)) md5.update(chunk as Buffer)
    return md5.digest('hex')
  } finally {
    await handle.close()
  }
}
