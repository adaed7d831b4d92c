import { type Context, HttpStatusError, type MediaKind, ServiceDownError } from '@svc/plugin-sdk'

export const BASE_URL = 'https://thumbnails.libretro.com'

/** One kind of picture and the folder that holds it for every system. */
export interface ArtFolder { readonly kind: MediaKind, readonly folder: string }

export const BOX_ART: ArtFolder = { kind: 'cover', folder: 'Named_Boxarts' }
export const EXTRA_ART: readonly ArtFolder[] = [
  { kind: 'screenshot', folder: 'Named_Snaps' },
  { kind: 'title_screen', folder: 'Named_Titles' },
  { kind: 'logo', folder: 'Named_Logos' }
]

const LISTING_MS = 24 * 60 * 60 * 1000
// No folder, or a page without pictures, such as a notice of maintenance.
const EMPTY_LISTING_MS = 60 * 60 * 1000
const LISTING_TIMEOUT_MS = 60_000
const MISSING_FOLDER: readonly number[] = [404, 410]

// The bounds keep the search linear in the length of a page that is no listing at all.
const LINK = /<a\s[^<>]{0,200}?\bhref\s{0,9}=\s{0,9}(?:"([^"<>]{1,2000})"|'([^'<>]{1,2000})')/gi
const PICTURE = /\.(?:png|jpe?g|webp)$/i
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', apos: "'", '#39': "'", '#x27': "'" }

/**
 * The pictures a system has of one kind, by file name in the order of the server's index page; empty when it has none.
 * Kept for 24 hours, or for one hour when there are none.
 *
 * @throws RateLimitedError, ServiceDownError or HttpStatusError when the server does not answer; nothing is kept then.
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

/** Whether the server refused or failed to answer, which is no reason to fail the ROM; a pause it asks for is one. */
export function isUnavailable (error: unknown): boolean {
  return error instanceof ServiceDownError || error instanceof HttpStatusError
}

/** The picture files an index page links to, without repeats; links to other folders are left out. */
export function parseListing (html: string): string[] {
  const files = new Set<string>()
  for (const [, double, single] of html.matchAll(LINK)) {
    const file = toFileName(double ?? single ?? '')
    if (file !== undefined) files.add(file)
  }
  return [...files]
}

/** The address of one picture. */
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
