import type { Sharp, SharpInput } from 'sharp'

/** Decoded pixels a picture may have; more is a bomb. */
export const PIXELS_MAX = 50_000_000

/**
 * Opens a picture; decoding it throws when it has too many pixels. The decoder is native code of some size that most
 * processes never need, so it is loaded with the first picture.
 */
export async function openImage (input: SharpInput): Promise<Sharp> {
  const { default: sharp } = await import('sharp')
  return sharp(input, { limitInputPixels: PIXELS_MAX })
}

/** A small cover is 20 % of the large one when that is at least this high, else 40 %. */
const TALL_COVER_PIXELS = 1_000

/** The small copy of a cover, in memory: an image library's own writing does not say that a disk is full. */
export async function makeSmallCover (file: string, extension: string, height: number): Promise<Buffer> {
  const scale = height >= TALL_COVER_PIXELS ? 0.2 : 0.4
  const format = extension === 'jpg' ? 'jpeg' : extension as 'png' | 'webp' | 'gif' | 'avif'
  const rows = Math.max(1, Math.round(height * scale))
  return await (await openImage(file)).resize({ height: rows }).toFormat(format).toBuffer()
}

const SAMPLE_POINTS = 32

/** 32 × 32 points of a picture, three bytes each (red, green, blue), row by row; undefined for what is none. */
export async function samplePixels (file: string): Promise<Uint8Array | undefined> {
  try {
    const sample = (await openImage(file)).resize(SAMPLE_POINTS, SAMPLE_POINTS, { fit: 'fill' })
    return await sample.flatten().toColourspace('srgb').raw().toBuffer()
  } catch {
    return undefined
  }
}
