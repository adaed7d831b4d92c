import { type LookupStep, regionCode } from '@svc/plugin-sdk'
import { findBestTitle, normalizeTitle } from '@svc/plugin-sdk/titles'

/** The pictures of a listing, indexed for search. */
export interface ListingIndex {
  /** Files by lower-case name without extension. */
  readonly byName: ReadonlyMap<string, string>
  /** Files by normalized title without bracketed groups; all files of a title in listing order. */
  readonly byTitle: ReadonlyMap<string, readonly string[]>
  /** The first listed title for each key of `byTitle`, in the same order. */
  readonly titles: readonly string[]
}

/** A picture and the similarity of its name, 0 to 1. */
export interface PictureMatch { readonly file: string, readonly score: number }

// Characters from https://docs.libretro.com/guides/roms-playlists-thumbnails/, and `"`, which its file check also
// refuses.
const REPLACED = /[&*/:`"<>?\\|]/g
const GROUP = /\(([^()]*)\)|\[([^[\]]*)\]/g
const EXTENSION = /\.[^.]+$/
const THRESHOLD = 0.8

export function createListingIndex (files: readonly string[]): ListingIndex {
  const byName = new Map<string, string>()
  const byTitle = new Map<string, string[]>()
  const titles: string[] = []
  for (const file of files) {
    const name = file.replace(EXTENSION, '')
    if (!byName.has(name.toLowerCase())) byName.set(name.toLowerCase(), file)
    const title = withoutGroups(name)
    const key = normalizeTitle(title)
    const variants = byTitle.get(key)
    if (variants !== undefined) variants.push(file)
    else if (key !== '') {
      byTitle.set(key, [file])
      titles.push(title)
    }
  }
  return { byName, byTitle, titles }
}

/**
 * Finds the picture for a name without extension: the one with the same name, else one with the most similar title.
 * Among pictures with that title, the one with the most shared tags wins. Further criteria are the most wanted region
 * and the fewest tags.
 *
 * @param regions codes of the wanted regions, most wanted first
 * @param explain receives the titles that were compared
 */
export function findFile (
  name: string, { byName, byTitle, titles }: ListingIndex, regions: readonly string[] = [],
  explain?: (step: LookupStep) => void
): PictureMatch | undefined {
  const searched = name.replace(REPLACED, '_')
  const exact = byName.get(searched.toLowerCase())
  if (exact !== undefined) {
    explain?.({ by: 'search', term: name, threshold: THRESHOLD, count: 1, candidates: [{ name: exact, score: 1 }] })
    return { file: exact, score: 1 }
  }
  const title = withoutGroups(searched)
  const compared = byTitle.has(normalizeTitle(title)) ? [title] : titles
  const best = findBestTitle(title, compared, { threshold: THRESHOLD, explain })
  const variants = best && byTitle.get(normalizeTitle(best.title))
  const file = closestVariant(searched, variants ?? [], regions)
  return best && file !== undefined ? { file, score: best.score } : undefined
}

function closestVariant (name: string, variants: readonly string[], regions: readonly string[]): string | undefined {
  const searched = toTags(name)
  const [closest] = variants.map((file) => {
    const tags = [...toTags(file)]
    const positions = tags.map((tag) => regions.indexOf(regionCode(tag) ?? '')).filter((position) => position >= 0)
    const shared = tags.filter((tag) => searched.has(tag)).length
    return { file, shared, place: Math.min(regions.length, ...positions), count: tags.length }
  }).toSorted((a, b) => b.shared - a.shared || a.place - b.place || a.count - b.count)
  return closest?.file
}

function toTags (name: string): Set<string> {
  const groups = [...name.matchAll(GROUP)].flatMap(([, round, square]) => (round ?? square ?? '').split(','))
  return new Set(groups.map((tag) => tag.trim().toLowerCase()))
}

function withoutGroups (name: string): string {
  return name.replace(GROUP, ' ').replace(/\s+/g, ' ').trim()
}
