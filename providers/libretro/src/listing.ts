import { type Context, HttpStatusError, type MediaKind, ServiceDownError } from '@svc/plugin-sdk'

export const BASE_URL = 'https://thumbnails.libretro.com'

/** One kind of picture and its folder, which has the same name for every system. */
export interface ArtFolder { readonly kind: MediaKind, readonly folder: string }

export const BOX_ART: ArtFolder = { kind: 'cover', folder: 'Named_Boxarts' }
export const EXTRA_ART: readonly ArtFolder[] = [
  { kind: 'screenshot', folder: 'Named_Snaps' },
  { kind: 'title_screen', folder: 'Named_Titles' },
  { kind: 'logo', folder: 'Named_Logos' }
]

const LISTING_MS = 24 * 60 * 60 * 1000
// Lifetime of an empty listing: no folder, or a page without pictures, such as a maintenance notice.
const EMPTY_LISTING_MS = 60 * 60 * 1000
const LISTING_TIMEOUT_MS = 60_000
const MISSING_FOLDER: readonly number[] = [404, 410]

// The bounds keep the search linear in the length of any page that is no listing.
const LINK = /<a\s[^<>]{0,200}?\bhref\s{0,9}=\s{0,9}(?:"([^"<>]{1,2000})"|'([^'<>]{1,2000})')/gi
const PICTURE = /\.(?:png|jpe?g|webp)$/i
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', apos: "'", '#39': "'", '#x27': "'" }

/**
 * Fetches a system's pictures of one kind, by file name in the order of the server's index page; empty when it has
 * none. Listings are cached for 24 hours, empty ones for one hour.
 *
 * @throws RateLimitedError, ServiceDownError or HttpStatusError when the server does not answer; nothing is then
 * cached.
 */
export async function fetchListing (system: string, folder: string, ctx: Context): Promise<readonly string[]> {
  const key = `${system}/${folder}`
  const cached = await ctx.cache.get(key)
  if (isListing(cached)) return cached
  const url = `${BASE_URL}/${encodeSegment(system)}/${folder}/`
  const response = await ctx.http.request(url,
    { query: { F: 2 }, accept: MISSING_FOLDER, timeoutMs: LISTING_TIMEOUT_MS })
  const files = MISSING_FOLDER.includes(response.status) ? [] : parseListing(response.text())
  await ctx.cache.set(key, files, files.length === 0 ? EMPTY_LISTING_MS : LISTING_MS)
  return files
}

/** True if the server refused or failed to answer. The ROM then goes on, unlike after a rate limit. */
export function isUnavailable (error: unknown): boolean {
  return error instanceof ServiceDownError || error instanceof HttpStatusError
}

/** Returns the picture files in the links of an index page, without repeats; skips links to other folders. */
export function parseListing (html: string): string[] {
  const files = new Set<string>()
  for (const [, double, single] of html.matchAll(LINK)) {
    const file = toFileName(double ?? single ?? '')
    if (file !== undefined) files.add(file)
  }
  return [...files]
}

/** Returns the URL of one picture. */
export function toUrl (system: string, folder: string, file: string): string {
  return `${BASE_URL}/${encodeSegment(system)}/${folder}/${encodeSegment(file)}`
}

function toFileName (link: string): string | undefined {
  const href = link.replace(/&(#?\w{1,6});/g, (entity, name: string) => ENTITIES[name.toLowerCase()] ?? entity)
  if (/^[?#]/.test(href)) return undefined
  const file = decodePercent(href)
  return file !== undefined && PICTURE.test(file) && !/[/\\]/.test(file) ? file : undefined
}

function decodePercent (text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function encodeSegment (text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

function isListing (value: unknown): value is string[] {
  return Array.isArray(value) && value.every((file) => typeof file === 'string')
}
