import { isFields, readUrl } from '@svc/plugin-sdk/readers'

/** Sizes by name: https://api-docs.igdb.com/#images */
export type ImageSize = '720p' | '1080p'

/** Returns the URL of an image record in a size, or undefined when it has no usable one. */
export function imageUrl (image: unknown, size: ImageSize): string | undefined {
  const url = isFields(image) ? readUrl(image, 'url') : undefined
  return url?.replace('/t_thumb/', `/t_${size}/`)
}
