/**
 * Media types that a browser may show, by lower-case extension. SVG and HTML are missing, because they can carry
 * scripts.
 */
const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['avif', 'image/avif'],
  ['bmp', 'image/bmp'],
  ['tif', 'image/tiff'],
  ['tiff', 'image/tiff'],
  ['mp4', 'video/mp4'],
  ['m4v', 'video/mp4'],
  ['webm', 'video/webm'],
  ['ogv', 'video/ogg'],
  ['mov', 'video/quicktime'],
  ['mp3', 'audio/mpeg'],
  ['ogg', 'audio/ogg'],
  ['oga', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['m4a', 'audio/mp4'],
  ['aac', 'audio/aac'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['pdf', 'application/pdf'],
  ['md', 'text/markdown; charset=utf-8']
])

/** The ranges of all types with which files are shown, for the API document. */
export const SHOWN_TYPES = ['image/*', 'video/*', 'audio/*', 'application/pdf', 'text/markdown'] as const

/** Returns the type with which a file is shown; null if the file may only be saved. */
export function mediaTypeOf (fileName: string): string | null {
  const dot = fileName.lastIndexOf('.')
  return dot === -1 ? null : MEDIA_TYPES.get(fileName.slice(dot + 1).toLowerCase()) ?? null
}
