import type { Media, MediaKind } from '../metadata.ts'
import { unique } from './fields.ts'

/**
 * Builds media of one kind from URLs, best first; skips missing and repeated URLs.
 *
 * @example media: [...listMedia('cover', [cover]), ...listMedia('screenshot', screenshots)]
 */
export function listMedia (kind: MediaKind, urls: readonly (string | undefined)[]): Media[] {
  return unique(urls).map((url) => ({ kind, url }))
}
