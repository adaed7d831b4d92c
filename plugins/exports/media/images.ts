import type { Sharp } from 'sharp'
import { openImage } from '../../resources/image.ts'

const JPEG_QUALITY = 90
/** Number of bytes that identify the type of a picture. */
export const HEAD_BYTES = 16

const SIGNATURES: readonly [type: ImageType, offset: number, bytes: string][] = [
  ['png', 0, '\x89PNG\r\n\x1a\n'],
  ['jpg', 0, '\xff\xd8\xff'],
  ['other', 0, 'GIF8'],
  ['other', 8, 'WEBP'],
  ['other', 4, 'ftyp'],
  ['other', 0, 'II*\0'],
  ['other', 0, 'MM\0*']
]

/** The type of a picture by its content, not by its name: one that every frontend shows, or one to convert. */
export type ImageType = 'png' | 'jpg' | 'other'

/** Returns null if the first bytes are of no picture of a type that is stored here. */
export function readImageType (start: Buffer): ImageType | null {
  const head = start.toString('latin1', 0, HEAD_BYTES)
  return SIGNATURES.find(([, offset, bytes]) => head.startsWith(bytes, offset))?.[0] ?? null
}

/**
 * Converts a picture to PNG if it has transparent pixels, else to JPEG. Of an animation it converts the first frame.
 *
 * @throws Error if the picture cannot be decoded or has more than 50 million pixels.
 */
export async function convertImage (content: Buffer): Promise<{ extension: '.png' | '.jpg', bytes: Buffer }> {
  const image = (await openImage(content)).autoOrient()
  return await isTransparent(image)
    ? { extension: '.png', bytes: await image.png().toBuffer() }
    : { extension: '.jpg', bytes: await image.jpeg({ quality: JPEG_QUALITY }).toBuffer() }
}

/** Many pictures have an alpha channel without a transparent pixel. Only pictures with the channel are analysed. */
async function isTransparent (image: Sharp): Promise<boolean> {
  const { hasAlpha } = await image.metadata()
  return hasAlpha && !(await image.clone().stats()).isOpaque
}
