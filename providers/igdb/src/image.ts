import { isFields, readText } from '@svc/plugin-sdk'

/** Sizes by name: https://api-docs.igdb.com/#images */
export type ImageSize = '720p' | '1080p'

/** The address of an image record in a size, or undefined when it has none that can be used. */
export function imageUrl (image: unknown, size: ImageSize): string | undefined {
  const url = isFields(image) ? readText(image, 'url') : undefined
  if (url === undefined) return undefined
  const absolute = url.startsWith('//') ? `https:${url}` : url
  return absolute.startsWith('https://') ? absolute.replace('/t_thumb/', `/t_${size}/`) : undefined
}
