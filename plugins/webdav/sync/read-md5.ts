import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { conflict } from '../../../core/errors.ts'
import type { StoredObject } from '../../../core/store/store.ts'

const ZIP_MARK = 'PK\x03\x04'

const readMark = async (object: StoredObject): Promise<string> =>
  (await buffer(object.read(0, Math.min(ZIP_MARK.length, object.size)))).toString('latin1')

/**
 * Returns the MD5 of the bytes of an asset, and closes its content.
 *
 * @param size the size of the content by its row
 * @param contentHash the stored hash, which is that of the bytes unless the file is a zip
 */
export async function readMd5 (object: StoredObject, size: number, contentHash: string | null): Promise<string> {
  try {
    if (object.size !== size) throw conflict(`The file has ${object.size} bytes instead of ${size}; restore it from a backup`)
    if (contentHash !== null && await readMark(object) !== ZIP_MARK) return contentHash
    const md5 = createHash('md5')
    for await (const chunk of object.read(0, object.size)) md5.update(chunk as Buffer)
    return md5.digest('hex')
  } finally {
    await object.close()
  }
}
