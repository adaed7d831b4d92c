import type { Media, MediaKind } from './metadata.ts'
import { unique } from './payload.ts'

/**
 * Media of one kind from their addresses, best first; what is missing or repeated is left out.
 *
 * @example media: [...listMedia('cover', [cover]), ...listMedia('screenshot', screenshots)]
 */
export function listMedia (kind: MediaKind, urls: readonly (string | undefined)[]): Media[] {
  return unique(urls).map((url) => ({ kind, url }))
}
