import { MEDIA_KINDS, type Media, type MediaKind } from '@svc/plugin-sdk'
import { listMedia } from '@svc/plugin-sdk/readers'
import categories from '../data/categories.json' with { type: 'json' }
import type { RegionRank } from './regions.ts'

/** A picture of a game, by LaunchBox's category, such as `Box - Front`. */
export interface Image { readonly url: string, readonly type: string, readonly region?: string | undefined }

/** The categories of each kind, most wanted first. */
const CATEGORIES: Readonly<Partial<Record<MediaKind, readonly string[]>>> = categories.kinds

/** Folders of an installation with pictures of games, not of platforms or for banners. */
export const LOCAL_CATEGORIES: ReadonlySet<string> =
  new Set([...Object.values(categories.kinds), categories.screenshots, categories.others].flat())

/** Converts pictures to media, the best of each kind first. */
export function toImageMedia (images: readonly Image[], rank: RegionRank): Media[] {
  const byRegion = images.toSorted((a, b) => rank(a.region) - rank(b.region))
  const urlsOf = (category: string) => byRegion.filter(({ type }) => type === category).map(({ url }) => url)
  const screenshots = images.filter(({ type }) => type.includes('Screenshot')).map(({ url }) => url)
  const media = MEDIA_KINDS.flatMap((kind) => listMedia(kind, (CATEGORIES[kind] ?? []).flatMap(urlsOf)))
  return [...media, ...listMedia('screenshot', screenshots)]
}

/** Sorts pictures of an installation: screenshots in their order, and the first of each category first. */
export function sortLocalImages (images: readonly Image[]): Image[] {
  return images.toSorted((a, b) => categories.screenshots.indexOf(a.type) - categories.screenshots.indexOf(b.type))
}
