import { type ExportGame, type MediaKind, isDeletedMedia } from '@svc/plugin-sdk'
import { normalizePath } from './path.ts'

/** The folders of gamelist.xml, so that both exports share one copy of each file. */
export const MEDIA_FOLDERS = {
  cover: 'covers',
  box2d_back: 'backcovers',
  box3d: '3dboxes',
  screenshot: 'screenshots',
  title_screen: 'titlescreens',
  logo: 'marquees',
  marquee: 'marquees',
  fanart: 'fanart',
  physical: 'physicalmedia',
  bezel: 'bezels',
  video: 'videos',
  video_normalized: 'videos'
} as const satisfies Partial<Record<MediaKind, string>>

/** Asset key → the kinds that may fill it. Pegasus reads `box` as the whole sleeve; the cover is the closest kind. */
const ASSETS: readonly [string, readonly MediaKind[]][] = [
  ['assets.box_front', ['cover']],
  ['assets.box', ['cover']],
  ['assets.box_back', ['box2d_back']],
  ['assets.box_full', ['box3d']],
  ['assets.screenshot', ['screenshot']],
  ['assets.titlescreen', ['title_screen']],
  ['assets.video', ['video', 'video_normalized']],
  ['assets.logo', ['logo']],
  ['assets.marquee', ['marquee']],
  ['assets.cartridge', ['physical']],
  ['assets.background', ['fanart']],
  ['assets.bezel', ['bezel']]
]

const ASSET_KEYS = new Set(ASSETS.map(([key]) => key))

/** Lists the assets of a game, with paths relative to the file; skips kinds without a file. */
export function listAssets (game: ExportGame): { key: string, path: string }[] {
  return ASSETS.flatMap(([key, kinds]) => {
    const kind = kinds.find((candidate) => game.media[candidate] !== undefined)
    const path = kind === undefined ? undefined : game.media[kind]
    // Logo and marquee share one file name; the file on disk is then the logo.
    const isLogo = kind === 'marquee' && path === game.media.logo
    return path === undefined || isLogo || /[\r\n]|\s$/.test(path) ? [] : [{ key, path }]
  })
}

/** True if an old asset is a file that the server published for this ROM and deleted since. */
export function isDeletedAsset (key: string, value: string, game: Pick<ExportGame, 'path' | 'media_files'>): boolean {
  const file = ASSET_KEYS.has(key) ? normalizePath(value) : null
  return file !== null && isDeletedMedia(file, game, MEDIA_FOLDERS)
}
