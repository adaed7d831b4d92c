import { type Media, type MediaKind, listMedia } from '@svc/plugin-sdk'
import type { createRegionRank } from './regions.ts'

/** A picture of a game, by LaunchBox's category, such as `Box - Front`. */
export interface Image {
  readonly url: string
  readonly type: string
  readonly region?: string | undefined
}

type RegionRank = ReturnType<typeof createRegionRank>

const STORES = ['Amazon', 'Epic Games', 'GOG', 'Origin', 'Steam']

/** The categories of each kind, most wanted first. */
const CATEGORIES: readonly (readonly [kind: MediaKind, categories: readonly string[]])[] = [
  ['cover', [
    'Box - Front', 'Box - Front - Reconstructed', 'Fanart - Box - Front', 'Box - 3D', 'Amazon Poster', 'Epic Games Poster',
    'GOG Poster', 'Steam Poster'
  ]],
  ['box2d_back', ['Box - Back', 'Box - Back - Reconstructed', 'Fanart - Box - Back']],
  ['box2d_side', ['Box - Spine']],
  ['box3d', ['Box - 3D']],
  ['physical', ['Cart - Front', 'Disc', 'Fanart - Cart - Front', 'Fanart - Disc', 'Cart - 3D']],
  ['logo', ['Clear Logo']],
  ['marquee', ['Arcade - Marquee']],
  ['title_screen', ['Screenshot - Game Title']],
  ['fanart', ['Fanart - Background', ...STORES.map((store) => `${store} Background`)]]
]

/** The order of an installation's screenshots; those of the dump keep theirs. */
const SCREENSHOTS = [
  'Screenshot - Game Title', 'Screenshot - Game Select', 'Screenshot - Gameplay', 'Screenshot - High Scores',
  'Screenshot - Game Over', ...STORES.map((store) => `${store} Screenshot`)
]

/** Folders of an installation that hold pictures of games, and not of platforms or for banners. */
export const LOCAL_CATEGORIES: ReadonlySet<string> = new Set([
  ...CATEGORIES.flatMap(([, categories]) => categories), ...SCREENSHOTS,
  'Advertisement Flyer - Front', 'Advertisement Flyer - Back', 'Box - Full'
])

/** The pictures as media, the best of each kind first. */
export function toImageMedia (images: readonly Image[], rank: RegionRank): Media[] {
  const byRegion = images.toSorted((a, b) => rank(a.region) - rank(b.region))
  const urlsOf = (category: string) => byRegion.filter(({ type }) => type === category).map(({ url }) => url)
  const screenshots = images.filter(({ type }) => type.includes('Screenshot')).map(({ url }) => url)
  const media = CATEGORIES.flatMap(([kind, categories]) => listMedia(kind, categories.flatMap(urlsOf)))
  return [...media, ...listMedia('screenshot', screenshots)]
}

/** Pictures of an installation, with its screenshots in their order and the first of each category first. */
export function sortLocalImages (images: readonly Image[]): Image[] {
  return images.toSorted((a, b) => SCREENSHOTS.indexOf(a.type) - SCREENSHOTS.indexOf(b.type))
}
