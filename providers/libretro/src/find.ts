import { findBestTitle, normalizeTitle, regionCode } from '@svc/plugin-sdk'

/** The pictures of a listing, ready to be searched. */
export interface ListingIndex {
  /** By lower-case name without extension. */
  readonly byName: ReadonlyMap<string, string>
  /** By normalised title without bracketed groups; all of a title in listing order. */
  readonly byTitle: ReadonlyMap<string, readonly string[]>
  /** A title as first listed for each key of `byTitle`, in the same order. */
  readonly titles: readonly string[]
}

/** A picture and how well its name fits, 0 to 1. */
export interface PictureMatch { readonly file: string, readonly score: number }

// https://docs.libretro.com/guides/roms-playlists-thumbnails/, and `"`, which its file check also refuses.
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
 * The picture for a name without extension: of the same name, else of the most similar title. Of several pictures with
 * that title the one that shares most tags with the name is taken, then the one of the most wanted region, then the
 * one with the fewest tags.
 *
 * @param regions codes of the wanted regions, most wanted first
 */
export function findFile (
  name: string, { byName, byTitle, titles }: ListingIndex, regions: readonly string[] = []
): PictureMatch | undefined {
  const wanted = name.replace(REPLACED, '_')
  const exact = byName.get(wanted.toLowerCase())
  if (exact !== undefined) return { file: exact, score: 1 }
  const title = withoutGroups(wanted)
  const same = byTitle.has(normalizeTitle(title)) ? { title, score: 1 } : undefined
  const best = same ?? findBestTitle(title, titles, { threshold: THRESHOLD })
  const variants = best && byTitle.get(normalizeTitle(best.title))
  const file = closestVariant(wanted, variants ?? [], regions)
  return best && file !== undefined ? { file, score: best.score } : undefined
}

function closestVariant (name: string, variants: readonly string[], regions: readonly string[]): string | undefined {
  const wanted = toTags(name)
  const [closest] = variants.map((file) => {
    const tags = [...toTags(file)]
    const places = tags.map((tag) => regions.indexOf(regionCode(tag) ?? '')).filter((place) => place >= 0)
    const shared = tags.filter((tag) => wanted.has(tag)).length
    return { file, shared, place: Math.min(regions.length, ...places), count: tags.length }
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
