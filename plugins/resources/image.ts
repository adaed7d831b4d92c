import type { Sharp, SharpInput } from 'sharp'

/** Most decoded pixels of a picture. A larger picture counts as a decompression bomb. */
export const PIXELS_MAX = 50_000_000

/**
 * Opens a picture; decoding throws if it has too many pixels. The decoder is a large native library that most processes
 * never need, so the first picture loads it.
 */
export async function openImage (input: SharpInput): Promise<Sharp> {
  const { default: sharp } = await import('sharp')
  return sharp(input, { limitInputPixels: PIXELS_MAX })
}

/** Height from which a small cover is 20 % of the large one; below it 40 %. */
const TALL_COVER_PIXELS = 1_000

/** Returns the small copy of a cover in memory, because the image library's own writing does not report a full disk. */
export async function createSmallCover (file: string, extension: string, height: number): Promise<Buffer> {
  const scale = height >= TALL_COVER_PIXELS ? 0.2 : 0.4
  const format = extension === 'jpg' ? 'jpeg' : extension as 'png' | 'webp' | 'gif' | 'avif'
  const rows = Math.max(1, Math.round(height * scale))
  return await (await openImage(file)).resize({ height: rows }).toFormat(format).toBuffer()
}

const SAMPLE_POINTS = 32

/**
 * Returns 32 × 32 points of a picture, three bytes each (red, green, blue), row by row; undefined if it is no picture.
 */
export async function samplePixels (file: string): Promise<Uint8Array | undefined> {
  try {
    const sample = (await openImage(file)).resize(SAMPLE_POINTS, SAMPLE_POINTS, { fit: 'fill' })
    return await sample.flatten().toColourspace('srgb').raw().toBuffer()
  } catch {
    return undefined
  }
}
