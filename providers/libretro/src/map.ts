import { createHash } from 'node:crypto'
import type { Match, MediaKind } from '@svc/plugin-sdk'
import { toUrl } from './listing.ts'

/** A matching picture for a ROM. */
export interface Artwork {
  readonly kind: MediaKind
  /** The folder of the kind at the server, such as `Named_Boxarts`. */
  readonly folder: string
  readonly file: string
  /** The similarity of its name, 0 to 1. */
  readonly score: number
}

/** Creates the match of a ROM with this box art. Its id is the SHA-1 of the file's name, the same in every scan. */
export function toMatch (system: string, cover: Artwork, extras: readonly Artwork[]): Match<never, string> {
  return {
    id: createHash('sha1').update(cover.file).digest('hex'),
    score: cover.score,
    media: [cover, ...extras].map(({ kind, folder, file }) => ({ kind, url: toUrl(system, folder, file) }))
  }
}
