import { findBestTitle, normalizeTitle } from '@svc/plugin-sdk'

/** The pictures of a listing, ready to be searched. */
export interface ListingIndex {
  /** By lower-case name without extension. */
  readonly byName: ReadonlyMap<string, string>
  /** By normalised title without round-bracket groups; all of a title in listing order. */
  readonly byTitle: ReadonlyMap<string, readonly string[]>
  /** A title as first listed for each key of `byTitle`, in the same order. */
  readonly titles: readonly string[]
}

/** A picture and how well its name fits, 0 to 1. */
export interface Finding { readonly file: string, readonly score: number }

// https://docs.libretro.com/guides/roms-playlists-thumbnails/, and `"`, which its file check also refuses.
const REPLACED = /[&*/:`"<>?\\|]/g
const GROUP = /\(([^()]*)\)/g
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
 * that title the one that shares most tags with the name, such as its region, is taken.
 */
export function findFile (name: string, { byName, byTitle, titles }: ListingIndex): Finding | undefined {
  const wanted = name.replace(REPLACED, '_')
  const exact = byName.get(wanted.toLowerCase())
  if (exact !== undefined) return { file: exact, score: 1 }
  const title = withoutGroups(wanted)
  const same = byTitle.has(normalizeTitle(title)) ? { title, score: 1 } : undefined
  const best = same ?? findBestTitle(title, titles, { threshold: THRESHOLD })
  const variants = best && byTitle.get(normalizeTitle(best.title))
  const file = closestVariant(wanted, variants ?? [])
  return best && file !== undefined ? { file, score: best.score } : undefined
}

function closestVariant (name: string, variants: readonly string[]): string | undefined {
  const tags = toTags(name)
  let closest: string | undefined
  let most = -1
  for (const file of variants) {
    const shared = [...toTags(file)].filter((tag) => tags.has(tag)).length
    if (shared <= most) continue
    closest = file
    most = shared
  }
  return closest
}

function toTags (name: string): Set<string> {
  const groups = [...name.matchAll(GROUP)].flatMap(([, group = '']) => group.split(','))
  return new Set(groups.map((tag) => tag.trim().toLowerCase()))
}

function withoutGroups (name: string): string {
  return name.replace(GROUP, ' ').replace(/\s+/g, ' ').trim()
}
