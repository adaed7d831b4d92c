import { createFastWriter } from '../../../core/store/store-writer.ts'
import type { Store } from '../../../core/store/store.ts'
import { openImage } from '../../resources/image.ts'
import { resourceKey } from '../../resources/resource-key.ts'
import type { Picture } from './protocol.ts'

const COVER_PIXELS = 600
const FORMATS = { jpg: 'jpeg', png: 'png' } as const

/** Returns null if the content is not a picture, because some files declare one that they do not contain. */
async function encode (content: Picture['content'], extension: Picture['extension']): Promise<Buffer | null> {
  try {
    const size = { width: COVER_PIXELS, height: COVER_PIXELS, fit: 'inside', withoutEnlargement: true } as const
    return await (await openImage(content)).resize(size).toFormat(FORMATS[extension]).toBuffer()
  } catch {
    return null
  }
}

/**
 * Stores the picture of a file. The picture is encoded again, so no other data in it reaches a browser.
 *
 * @param stem path in the resources folder, without extension
 * @returns the path with extension; null if the content is not a picture
 */
export async function storeCover (
  { content, extension }: Picture, store: Store, stem: string
): Promise<string | null> {
  const picture = await encode(content, extension)
  if (picture === null) return null
  const path = `${stem}.${extension}`
  await createFastWriter(store).put(picture, resourceKey(path))
  return path
}
