import { type ExportGame, type Logger, type MediaKind, isDeletedMedia } from '@svc/plugin-sdk'
import { normalizePath } from './path.ts'

/** The folders of ES-DE, which readers of the XML use as well. */
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
  miximage: 'miximages',
  miximage_v2: 'miximages_v2',
  bezel: 'bezels',
  video: 'videos',
  video_normalized: 'videos',
  manual: 'manuals'
} as const satisfies Partial<Record<MediaKind, string>>

export const THUMBNAIL_KINDS = ['box2d', 'box3d', 'miximage', 'miximage_v2', 'physical'] as const
export const IMAGE_KINDS = ['screenshot', 'title_screen', 'miximage', 'miximage_v2', 'box2d'] as const

/** The kinds for `thumbnail` and `image`, most wanted first. */
export interface MediaChoice {
  readonly thumbnail: readonly MediaKind[]
  readonly image: readonly MediaKind[]
}

/** Reads `scan.gamelist.media`. A kind that is not allowed is logged and replaced by the default. */
export function chooseMedia (config: { thumbnail?: string, image?: string }, log: Pick<Logger, 'warn'>): MediaChoice {
  const thumbnail = chooseKind('thumbnail', config.thumbnail ?? 'box2d', THUMBNAIL_KINDS, log)
  const image = chooseKind('image', config.image ?? 'screenshot', IMAGE_KINDS, log)
  return { thumbnail: [...fileKinds(thumbnail), 'cover'], image: [...fileKinds(image), 'screenshot'] }
}

function chooseKind<Kind extends MediaKind> (
  key: string, value: string, allowed: readonly [Kind, ...Kind[]], log: Pick<Logger, 'warn'>
): Kind {
  const kind = allowed.find((name) => name === value)
  if (kind !== undefined) return kind
  const setting = `scan.gamelist.media.${key}`
  log.warn({ setting, value, used: allowed[0], allowed }, 'unknown media kind in the configuration: set an allowed one')
  return allowed[0]
}

/** Lists the kinds of file; the front of the box is stored once, as the cover. */
function fileKinds (kind: MediaKind): MediaKind[] {
  return kind === 'box2d' ? ['box2d', 'cover'] : [kind]
}

/** Lists all media elements of this exporter in file order, with the kinds that may fill them. */
function mediaElements (choice: MediaChoice): [string, readonly MediaKind[]][] {
  return [
    ['image', choice.image],
    ['thumbnail', choice.thumbnail],
    ['marquee', ['logo', 'marquee']],
    ['video', ['video', 'video_normalized']],
    ['fanart', ['fanart']],
    ['titleshot', ['title_screen']],
    ['boxback', ['box2d_back']],
    ['cartridge', ['physical']],
    ['bezel', ['bezel']],
    ['mix', ['miximage', 'miximage_v2']],
    ['manual', ['manual']]
  ]
}

const MEDIA_ELEMENTS = new Set(mediaElements({ thumbnail: [], image: [] }).map(([name]) => name))

/** Lists the media elements of a game, with paths relative to the platform folder; skips elements without a file. */
export function listMedia (game: ExportGame, choice: MediaChoice): { name: string, path: string }[] {
  return mediaElements(choice).flatMap(([name, kinds]) => {
    const kind = kinds.find((candidate) => game.media[candidate] !== undefined)
    const path = kind === undefined ? undefined : game.media[kind]
    return path === undefined ? [] : [{ name, path }]
  })
}

/** True if an element of an old entry names a file that the server published for this ROM and deleted since. */
export function isDeletedElement (name: string, value: string, game: Pick<ExportGame, 'path' | 'media_files'>): boolean {
  const file = MEDIA_ELEMENTS.has(name) ? normalizePath(value) : null
  return file !== null && isDeletedMedia(file, game, MEDIA_FOLDERS)
}
