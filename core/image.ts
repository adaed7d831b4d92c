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
