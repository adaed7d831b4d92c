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
