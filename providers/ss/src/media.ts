import type { FetchedMedia, Media, MediaKind } from '@svc/plugin-sdk'
import { type Fields, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import { downloadTimeout } from './account.ts'
import { type SsContext, credentials } from './config.ts'
import { ofRegion } from './regions.ts'

/** Kinds of artwork: our name, the media kinds, and the service's types, best first. */
const TYPES: readonly { name: string, kinds: readonly MediaKind[], types: readonly string[] }[] = [
  { name: 'box2d', kinds: ['cover', 'box2d'], types: ['box-2D'] },
  { name: 'box2d_back', kinds: ['box2d_back'], types: ['box-2D-back'] },
  { name: 'box2d_side', kinds: ['box2d_side'], types: ['box-2D-side'] },
  { name: 'box3d', kinds: ['box3d'], types: ['box-3D'] },
  { name: 'fullbox', kinds: [], types: ['box-texture'] },
  { name: 'bezel', kinds: ['bezel'], types: ['bezel-16-9'] },
  { name: 'fanart', kinds: ['fanart'], types: ['fanart'] },
  { name: 'logo', kinds: ['logo'], types: ['wheel-hd', 'wheel'] },
  { name: 'marquee', kinds: ['marquee'], types: ['screenmarquee'] },
  { name: 'miximage', kinds: ['miximage'], types: ['miximage1', 'miximage2', 'mixrbv1'] },
  { name: 'miximage_v2', kinds: ['miximage_v2'], types: ['mixrbv2'] },
  { name: 'physical', kinds: ['physical'], types: ['support-2D'] },
  { name: 'screenshot', kinds: ['screenshot'], types: ['ss'] },
  { name: 'title_screen', kinds: ['title_screen'], types: ['sstitle'] },
  { name: 'steamgrid', kinds: [], types: ['steamgrid'] },
  { name: 'manual', kinds: ['manual'], types: ['manuel'] },
  { name: 'video', kinds: ['video'], types: ['video'] },
  { name: 'video_normalized', kinds: ['video_normalized'], types: ['video-normalized'] }
]
export const MEDIA_NAMES = TYPES.map(({ name }) => name)

const SECRET_PARAMETERS = ['devid', 'devpassword', 'ssid', 'sspassword', 'softname']
/** The service may send a green square for a missing picture. */
const GREEN = [0, 255, 0]
const GREEN_DISTANCE = 24
const GREEN_SHARE = 0.9

/** Lists the URLs of a game's artwork by our names, without credentials. */
export function listMediaUrls (game: Fields, regions: readonly string[]): Map<string, string> {
  // Search results also contain pictures of companies, genres and the like.
  const all = toFieldsList(game.medias).filter(({ parent = 'jeu' }) => parent === 'jeu').flatMap((entry) => {
    const url = mediaUrl(entry)
    return url === undefined ? [] : [{ ...entry, url }]
  })
  return new Map(TYPES.flatMap(({ name, types }) => {
    const rank = (entry: Fields) => types.indexOf(readText(entry, 'type') ?? '')
    const [best] = ofRegion(all.filter((entry) => rank(entry) >= 0), regions).toSorted((a, b) => rank(a) - rank(b))
    return best === undefined ? [] : [[name, best.url] as const]
  }))
}

export function toMedia (urls: ReadonlyMap<string, string>): Media[] {
  return TYPES.flatMap(({ name, kinds }) => {
    const url = urls.get(name)
    return url === undefined ? [] : kinds.map((kind): Media => ({ kind, url }))
  })
}

function mediaUrl (entry: Fields): string | undefined {
  const url = URL.parse(readText(entry, 'url') ?? '')
  if (url === null || !isOwn(url)) return undefined
  url.protocol = 'https:'
  for (const name of SECRET_PARAMETERS) url.searchParams.delete(name)
  return url.href
}

/** True for the service's own URLs, because credentials must not go anywhere else. */
function isOwn ({ protocol, hostname, username, port }: URL): boolean {
  return /^https?:$/.test(protocol) && /(?:^|\.)screenscraper\.fr$/.test(hostname) && username === '' && port === ''
}

/** Builds the request for a piece of artwork: the URL with the credentials that were removed from it. */
export async function toDownload ({ url }: Media, ctx: Pick<SsContext, 'config' | 'cache'>) {
  const parsed = URL.parse(url)
  if (parsed === null || !isOwn(parsed)) return { url }
  return { url, query: credentials(ctx), timeoutMs: await downloadTimeout(ctx) }
}

export function isPlaceholder ({ pixels }: Pick<FetchedMedia, 'pixels'>): boolean {
  if (pixels === undefined || pixels.length === 0) return false
  const isNear = (at: number) => GREEN.every((wanted, channel) =>
    Math.abs((pixels[at + channel] ?? 0) - wanted) <= GREEN_DISTANCE)
  let count = 0
  for (let at = 0; at < pixels.length; at += 3) if (isNear(at)) count++
  return count >= pixels.length / 3 * GREEN_SHARE
}
